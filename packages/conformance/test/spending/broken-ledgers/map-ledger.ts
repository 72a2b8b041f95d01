import type { Clock, Instant } from '@holdfast/core';
import {
  BackedSpendingLedger,
  refusalOf,
  windowsAt,
  windowsWith,
  type AskedAmount,
  type BackendReservation,
  type BackendSettlement,
  type CountedWindows,
  type NanoRefusal,
  type SpendingBackend,
  type SpendingCall,
  type SpendingLedger,
} from '@holdfast/core/spending';
import type { CreateLedger, SpendingLedgerHarness } from '@holdfast/conformance';

interface Reservation {
  readonly amount: number;
  readonly expiresAt: Instant;
  readonly at: Instant;
}

/** The account of one owner. */
interface MapAccount {
  windows: CountedWindows | undefined;
  readonly reservations: Map<string, Reservation>;
  readonly settled: Map<string, Instant>;
}

/** The decisions of the reference ledger. A defect replaces some of them. */
export interface LedgerWays {
  readonly ownerKey: (owner: string) => string;
  readonly idKey: (inferenceId: string) => string;
  readonly windowsAt: (counted: CountedWindows | undefined, now: Instant) => CountedWindows;
  readonly windowsWith: (windows: CountedWindows, amount: number) => CountedWindows;
  readonly refusalOf: (windows: CountedWindows, asked: AskedAmount) => NanoRefusal | undefined;
  readonly isKnown: (account: MapAccount, id: string) => boolean;
  readonly isSettled: (account: MapAccount, id: string, now: Instant) => boolean;
  readonly isExpired: (reservation: Reservation, now: Instant) => boolean;
  readonly moveTo: (account: MapAccount, now: Instant) => void;
  readonly reserve: (account: MapAccount, id: string, reservation: Reservation) => void;
  readonly settle: (account: MapAccount, id: string, amount: number, now: Instant) => void;
  readonly release: (account: MapAccount, id: string) => void;
  /** Waits between the check and the write, if it returns a promise. */
  readonly between: () => Promise<void> | undefined;
}

export const SOUND: LedgerWays = {
  ownerKey: (owner) => owner,
  idKey: (inferenceId) => inferenceId,
  windowsAt,
  windowsWith,
  refusalOf,
  isKnown: ({ reservations, settled }, id) => reservations.has(id) || settled.has(id),
  isSettled: ({ settled }, id) => settled.has(id),
  isExpired: ({ expiresAt }, now) => expiresAt <= now,
  moveTo: () => undefined,
  reserve: ({ reservations }, id, reservation) => void reservations.set(id, reservation),
  settle(account, id, amount, now) {
    account.windows = windowsWith(windowsAt(account.windows, now), amount);
    account.reservations.delete(id);
    account.settled.set(id, now);
  },
  release: ({ reservations }, id) => void reservations.delete(id),
  between: () => undefined,
};

/** The parts of a ledger with a defect. */
export interface LedgerParts {
  readonly ways?: Partial<LedgerWays>;
  /** Methods of the ledger in place of those of the sound one. */
  readonly ledger?: (ledger: SpendingLedger) => Partial<SpendingLedger>;
  /** Each instance has accounts of its own. */
  readonly isAlone?: boolean;
}

type Accounts = Map<string, MapAccount>;

class MapBackend implements SpendingBackend {
  private readonly accounts: Accounts;
  private readonly clock: Clock;
  private readonly ways: LedgerWays;

  constructor(accounts: Accounts, clock: Clock, ways: LedgerWays) {
    this.accounts = accounts;
    this.clock = clock;
    this.ways = ways;
  }

  async reserve(reservation: BackendReservation): Promise<NanoRefusal | undefined> {
    const { ways } = this;
    const { owner, inferenceId, amount, limits, expiresInSeconds } = reservation;
    const now = this.clock.now();
    const [account, id] = [this.accountAt(owner, now), ways.idKey(inferenceId)];
    if (ways.isKnown(account, id)) return undefined;
    const windows = ways.windowsAt(account.windows, now);
    const refusal = ways.refusalOf(windows, { amount, limits, reserved: reservedIn(account) });
    if (refusal) return refusal;
    const pause = ways.between();
    if (pause) await pause;
    account.windows = windows;
    ways.reserve(account, id, { amount, at: now, expiresAt: now + expiresInSeconds * 1_000 });
    return undefined;
  }

  async settle({ owner, inferenceId, amount }: BackendSettlement): Promise<void> {
    const now = this.clock.now();
    const [account, id] = [this.accountAt(owner, now), this.ways.idKey(inferenceId)];
    if (this.ways.isSettled(account, id, now)) return;
    const pause = this.ways.between();
    if (pause) await pause;
    account.windows = this.ways.windowsAt(account.windows, now);
    this.ways.settle(account, id, amount, now);
  }

  async release({ owner, inferenceId }: SpendingCall): Promise<void> {
    this.ways.release(this.accountAt(owner, this.clock.now()), this.ways.idKey(inferenceId));
  }

  async read(owner: string): Promise<{ windows: CountedWindows | undefined; reserved: number }> {
    const now = this.clock.now();
    const account = this.accountAt(owner, now);
    const windows = account.windows && this.ways.windowsAt(account.windows, now);
    return { windows, reserved: reservedIn(account) };
  }

  async close(): Promise<void> {}

  private accountAt(owner: string, now: Instant): MapAccount {
    const key = this.ways.ownerKey(owner);
    const account = this.accounts.get(key) ?? {
      windows: undefined,
      reservations: new Map(),
      settled: new Map(),
    };
    this.accounts.set(key, account);
    this.ways.moveTo(account, now);
    for (const [id, reservation] of account.reservations)
      if (this.ways.isExpired(reservation, now)) account.reservations.delete(id);
    return account;
  }
}

function reservedIn({ reservations }: MapAccount): number {
  return [...reservations.values()].reduce((sum, { amount }) => sum + amount, 0);
}

/** Returns the harness of a ledger with these parts in place of those of the reference. */
export function ledgerHarness({
  ways,
  ledger: changes,
  isAlone = false,
}: LedgerParts): SpendingLedgerHarness {
  let accounts: Accounts = new Map();
  const reopen: CreateLedger = async (clock) => {
    const backend = new MapBackend(isAlone ? new Map() : accounts, clock, { ...SOUND, ...ways });
    const sound = new BackedSpendingLedger(backend);
    return { ledger: withChanges(sound, changes?.(sound) ?? {}), close: () => sound.close() };
  };
  const create: CreateLedger = (clock) => {
    accounts = new Map();
    return reopen(clock);
  };
  return { create, reopen };
}

function withChanges(sound: SpendingLedger, changes: Partial<SpendingLedger>): SpendingLedger {
  return {
    reserve: (reservation) => sound.reserve(reservation),
    settle: (settlement) => sound.settle(settlement),
    release: (call) => sound.release(call),
    read: (owner) => sound.read(owner),
    close: () => sound.close(),
    ...changes,
  };
}
