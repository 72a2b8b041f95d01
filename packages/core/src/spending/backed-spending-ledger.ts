import { checkArgument, mustBe, optionsCheck, type OptionChecks } from '../arguments.ts';
import type { Clock } from '../clock.ts';
import { StoreUnavailableError } from '../session/session-errors.ts';
import { MAX_DOLLARS, toDollars, toNanoDollars } from './nano-dollars.ts';
import type { SpendingBackend } from './spending-backend.ts';
import type {
  ReserveResult,
  Spending,
  SpendingCall,
  SpendingLedger,
  SpendingLimits,
  SpendingRefusal,
  SpendingReservation,
  SpendingSettlement,
} from './spending-ledger.ts';
import { endOfWindow, mapWindows, type NanoLimits, type NanoRefusal } from './spending-windows.ts';

/** The options of every ledger. */
export interface SpendingLedgerOptions {
  /** The clock for windows and reservations. Default: the clock of the machine, or of the server if it has one. */
  readonly clock?: Clock | undefined;
  /**
   * The seconds for which the ledger keeps the id of a settled call, so that a repeated settlement changes nothing;
   * default 2,764,800 (32 days, longer than every month).
   */
  readonly keepIdsSeconds?: number | undefined;
}

/** The checks of `SpendingLedgerOptions`. */
export const spendingOptionChecks: OptionChecks<SpendingLedgerOptions> = {
  clock: mustBe.clock,
  keepIdsSeconds: mustBe.seconds,
};

/** The default of `keepIdsSeconds`. */
export const KEEP_IDS_SECONDS = 32 * 86_400;

const OWNER = mustBe.text(1_000);
const AMOUNT = mustBe.number(0, MAX_DOLLARS);
const CALL: OptionChecks<SpendingCall> = {
  owner: mustBe.required(OWNER),
  inferenceId: mustBe.required(mustBe.text(200)),
};

const AMOUNTS_ADVICE = { cost: 'use "amount", in US dollars', id: 'use "inferenceId"' };
const checkCall = optionsCheck<SpendingCall>('release', CALL, AMOUNTS_ADVICE);
const checkSettlement = optionsCheck<SpendingSettlement>(
  'settle',
  { ...CALL, amount: mustBe.required(AMOUNT) },
  AMOUNTS_ADVICE,
);
const checkReservation = optionsCheck<SpendingReservation>(
  'reserve',
  {
    ...CALL,
    amount: mustBe.required(AMOUNT),
    limits: mustBe.required(mustBe.object),
    expiresInSeconds: mustBe.required(mustBe.seconds),
  },
  AMOUNTS_ADVICE,
);

const checkLimits = optionsCheck<SpendingLimits>(
  'limits',
  { hour: AMOUNT, day: AMOUNT, month: AMOUNT, total: AMOUNT },
  { week: 'the windows are hour, day, month and total', year: 'the windows are hour, day, month and total' },
);

/** Fulfils the contract of a ledger for any storage: checks arguments, and converts US dollars to nano-dollars. */
export class BackedSpendingLedger implements SpendingLedger {
  private readonly opened: SpendingBackend;
  private closing: Promise<void> | undefined;

  constructor(backend: SpendingBackend) {
    this.opened = backend;
  }

  async reserve(reservation: SpendingReservation): Promise<ReserveResult> {
    const { owner, inferenceId, amount, limits, expiresInSeconds } = checkReservation(reservation);
    const refusal = await this.backend.reserve({
      owner,
      inferenceId,
      expiresInSeconds,
      amount: toNanoDollars(amount),
      limits: nanoLimits(checkLimits(limits)),
    });
    return refusal === undefined ? { isReserved: true } : { isReserved: false, refusal: inDollars(refusal) };
  }

  async settle(settlement: SpendingSettlement): Promise<void> {
    const { owner, inferenceId, amount } = checkSettlement(settlement);
    await this.backend.settle({ owner, inferenceId, amount: toNanoDollars(amount) });
  }

  async release(call: SpendingCall): Promise<void> {
    const { owner, inferenceId } = checkCall(call);
    await this.backend.release({ owner, inferenceId });
  }

  async read(owner: string): Promise<Spending> {
    const { windows, reserved } = await this.backend.read(checkArgument('owner', owner, OWNER));
    return mapWindows((window) => ({
      spent: toDollars(windows?.[window].spent ?? 0),
      reserved: toDollars(reserved),
      since: windows?.[window].since,
      until: windows && endOfWindow(window, windows[window].since),
    }));
  }

  close(): Promise<void> {
    this.closing ??= this.opened.close();
    return this.closing;
  }

  /** @throws StoreUnavailableError once the ledger is closed. */
  private get backend(): SpendingBackend {
    if (this.closing === undefined) return this.opened;
    throw new StoreUnavailableError('The spending ledger is closed. Open it again.', { isAmbiguous: false });
  }
}

function nanoLimits(limits: SpendingLimits): NanoLimits {
  const given = Object.entries(limits).flatMap(([window, limit]) =>
    limit === undefined ? [] : [[window, toNanoDollars(limit)] as const],
  );
  return Object.fromEntries(given);
}

function inDollars({ window, limit, spent, reserved, until }: NanoRefusal): SpendingRefusal {
  const amounts = { limit: toDollars(limit), spent: toDollars(spent), reserved: toDollars(reserved) };
  return { window, ...amounts, until };
}
