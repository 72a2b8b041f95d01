import { optionsCheck } from '../arguments.ts';
import { readClock, systemClock, type Clock, type Instant } from '../clock.ts';
import {
  BackedSpendingLedger,
  KEEP_IDS_SECONDS,
  spendingOptionChecks,
  type SpendingLedgerOptions,
} from './backed-spending-ledger.ts';
import { addNanoDollars, type NanoDollars } from './nano-dollars.ts';
import type {
  BackendReservation,
  BackendSettlement,
  SpendingAccount,
  SpendingBackend,
} from './spending-backend.ts';
import type { SpendingCall } from './spending-ledger.ts';
import {
  refusalOf,
  windowsAt,
  windowsWith,
  type CountedWindows,
  type NanoRefusal,
} from './spending-windows.ts';

const checkOptions = (options: SpendingLedgerOptions): SpendingLedgerOptions =>
  optionsCheck<SpendingLedgerOptions>('MemorySpendingLedger', spendingOptionChecks)(options);

/** Counts in memory, for one process and as long as it lives. */
export class MemorySpendingLedger extends BackedSpendingLedger {
  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: SpendingLedgerOptions = {}) {
    const { clock = systemClock, keepIdsSeconds = KEEP_IDS_SECONDS } = checkOptions(options);
    super(new MemoryBackend(clock, keepIdsSeconds * 1_000));
  }
}

interface Reservation {
  readonly amount: NanoDollars;
  readonly expiresAt: Instant;
}

class MemoryAccount {
  windows: CountedWindows | undefined;
  readonly reservations = new Map<string, Reservation>();
  /** The settled calls, and until when the account keeps their ids. The oldest call comes first. */
  readonly settled = new Map<string, Instant>();

  /** Removes expired reservations and ids, and begins new windows. */
  moveTo(now: Instant): void {
    if (this.windows) this.windows = windowsAt(this.windows, now);
    for (const [id, { expiresAt }] of this.reservations) if (expiresAt <= now) this.reservations.delete(id);
    for (const [id, until] of this.settled) {
      if (until > now) return;
      this.settled.delete(id);
    }
  }

  get reserved(): NanoDollars {
    let sum = 0;
    for (const { amount } of this.reservations.values()) sum = addNanoDollars(sum, amount);
    return sum;
  }
}

class MemoryBackend implements SpendingBackend {
  private readonly clock: Clock;
  private readonly keepIds: number;
  private readonly accounts = new Map<string, MemoryAccount>();

  constructor(clock: Clock, keepIds: number) {
    this.clock = clock;
    this.keepIds = keepIds;
  }

  async reserve(reservation: BackendReservation): Promise<NanoRefusal | undefined> {
    const { owner, inferenceId, amount, limits, expiresInSeconds } = reservation;
    const now = readClock(this.clock);
    const account = this.accountAt(owner, now);
    if (account.reservations.has(inferenceId) || account.settled.has(inferenceId)) return undefined;
    const windows = windowsAt(account.windows, now);
    const refusal = refusalOf(windows, { amount, reserved: account.reserved, limits });
    if (refusal) return refusal;
    account.windows = windows;
    account.reservations.set(inferenceId, { amount, expiresAt: now + expiresInSeconds * 1_000 });
    this.accounts.set(owner, account);
    return undefined;
  }

  async settle({ owner, inferenceId, amount }: BackendSettlement): Promise<void> {
    const now = readClock(this.clock);
    const account = this.accountAt(owner, now);
    if (account.settled.has(inferenceId)) return;
    account.windows = windowsWith(windowsAt(account.windows, now), amount);
    account.reservations.delete(inferenceId);
    account.settled.set(inferenceId, now + this.keepIds);
    this.accounts.set(owner, account);
  }

  async release({ owner, inferenceId }: SpendingCall): Promise<void> {
    this.accounts.get(owner)?.reservations.delete(inferenceId);
  }

  async read(owner: string): Promise<SpendingAccount> {
    const { windows, reserved } = this.accountAt(owner, readClock(this.clock));
    return { windows, reserved };
  }

  async close(): Promise<void> {}

  /** The account at an instant. An owner without an account gets one with the first reservation or settlement. */
  private accountAt(owner: string, now: Instant): MemoryAccount {
    const account = this.accounts.get(owner) ?? new MemoryAccount();
    account.moveTo(now);
    return account;
  }
}
