import assert from 'node:assert/strict';
import { mustBe, optionsCheck } from '@holdfast/core/engine';
import type { Clock } from '@holdfast/core';
import type {
  ReserveResult,
  SpendingCall,
  SpendingLedger,
  SpendingReservation,
  SpendingWindow,
} from '@holdfast/core/spending';
import { harnessChecks, type Closable, type Harness } from '../run/harness.ts';
import { testClock, type TestClock } from '../store/case/store-case.ts';

/** A ledger, and the function that removes it. A case may have closed the ledger before. */
export interface LedgerUnderTest extends Closable {
  readonly ledger: SpendingLedger;
}

/** Creates an empty ledger that takes the time from the clock. */
export type CreateLedger = (clock: Clock) => Promise<LedgerUnderTest>;

/** The abilities of a harness for ledgers. Cases that need a missing ability are skipped. */
export interface LedgerAbilities {
  /** Opens another ledger on the storage of the last ledger, as another process does. Its `close` keeps the storage. */
  readonly reopen?: CreateLedger | undefined;
}

/** Creates the ledgers of the cases, and declares what the tests can do with their storage. */
export interface SpendingLedgerHarness extends Harness<CreateLedger>, LedgerAbilities {}

export const checkLedgerHarness = optionsCheck<SpendingLedgerHarness>('the harness of a ledger', {
  ...harnessChecks,
  reopen: mustBe.function,
});

/** The part of the contract that a case belongs to. */
export type SpendingLedgerGroup =
  | 'reservations'
  | 'settlements'
  | 'expiry'
  | 'windows'
  | 'values'
  | 'sharing';

/** A requirement on every spending ledger. */
export interface SpendingLedgerCase {
  readonly group: SpendingLedgerGroup;
  /** The name of the case. It is unique. */
  readonly name: string;
  /** The ability that the case needs. */
  readonly needs?: keyof LedgerAbilities | undefined;
  /** Runs the case. Rejects when the ledger does not meet the requirement. */
  readonly run: (createLedger: CreateLedger, abilities?: LedgerAbilities) => Promise<void>;
}

/** A case without its group. */
export type UngroupedLedgerCase = Omit<SpendingLedgerCase, 'group'>;

/** The environment of a case. */
export interface LedgerContext {
  readonly ledger: SpendingLedger;
  readonly clock: TestClock;
  /** Reserves an amount for a call of `acme`, for 60 seconds and with a limit of 1 dollar a day. */
  readonly reserve: (
    inferenceId: string,
    amount: number,
    options?: Partial<SpendingReservation>,
  ) => Promise<ReserveResult>;
  /** Settles a call of `acme`. */
  readonly settle: (inferenceId: string, amount: number) => Promise<void>;
  /** Asserts the amounts that `acme` has spent in a window and reserved; default: the day. */
  readonly assertSpending: (spent: number, reserved: number, window?: SpendingWindow) => Promise<void>;
  /** Opens another ledger on the same storage. Only for cases that need `reopen`. */
  readonly reopened: () => Promise<SpendingLedger>;
}

/** The initial time of the cases: 31 January 2027, 10:30 UTC. */
export const LEDGER_START = Date.UTC(2027, 0, 31, 10, 30);
export const ACME = 'acme';
export const GRANTED: ReserveResult = { isReserved: true };

/** Creates a case that begins with an empty ledger and its clock. */
export function ledgerCase(
  name: string,
  act: (context: LedgerContext) => Promise<void>,
  { needs }: Pick<SpendingLedgerCase, 'needs'> = {},
): UngroupedLedgerCase {
  return {
    name,
    ...(needs && { needs }),
    async run(createLedger, { reopen } = {}) {
      const clock = testClock();
      clock.time = LEDGER_START;
      const { ledger } = await createLedger(clock);
      await act({ ...contextOf(ledger), clock, reopened: async () => openAgain(clock, reopen) });
    },
  };
}

function contextOf(ledger: SpendingLedger): Omit<LedgerContext, 'clock' | 'reopened'> {
  return {
    ledger,
    reserve: (inferenceId, amount, options) =>
      ledger.reserve({
        ...callOf(inferenceId),
        amount,
        limits: { day: 1 },
        expiresInSeconds: 60,
        ...options,
      }),
    settle: (inferenceId, amount) => ledger.settle({ ...callOf(inferenceId), amount }),
    async assertSpending(spent, reserved, window = 'day') {
      const found = (await ledger.read(ACME))[window];
      assert.deepEqual({ spent: found.spent, reserved: found.reserved }, { spent, reserved });
    },
  };
}

async function openAgain(clock: TestClock, reopen: CreateLedger | undefined): Promise<SpendingLedger> {
  if (reopen === undefined) throw new TypeError('The case must declare that it needs reopen.');
  return (await reopen(clock)).ledger;
}

/** A call of `acme`. */
export function callOf(inferenceId: string): SpendingCall {
  return { owner: ACME, inferenceId };
}

/** Counts the granted reservations. */
export function countGranted(results: readonly ReserveResult[]): number {
  return results.filter(({ isReserved }) => isReserved).length;
}
