import { StateFormatError, type Instant } from '@holdfast/core';
import {
  addNanoDollars,
  refusalOf,
  windowsAt,
  windowsWith,
  type BackendReservation,
  type BackendSettlement,
  type CountedWindows,
  type NanoDollars,
  type NanoRefusal,
} from '@holdfast/core/spending';

interface Reservation {
  readonly amount: NanoDollars;
  readonly expiresAt: Instant;
}

const LAYOUT = 1;

/** The account of an owner, as one item holds it. The instants of `settled` are those until which the ids are kept. */
export class Account {
  windows: CountedWindows | undefined;
  /** The calls that were settled since the last items of settled calls were put. */
  readonly settled: Map<string, Instant>;
  private readonly reservations: Map<string, Reservation>;

  private constructor(
    windows: CountedWindows | undefined,
    reservations: Iterable<readonly [string, Reservation]>,
    settled: Iterable<readonly [string, Instant]>,
  ) {
    this.windows = windows;
    this.reservations = new Map(reservations);
    this.settled = new Map(settled);
  }

  static empty(): Account {
    return new Account(undefined, [], []);
  }

  /**
   * Reads an account from its text.
   * @throws StateFormatError `STATE_FORMAT` for a damaged account, `STATE_VERSION` for the layout of a newer release
   */
  static fromText(text: string | undefined, where: string): Account {
    const { layout, windows, reservations, settled } = parse(text, where) as Partial<AccountJson>;
    if (layout !== LAYOUT) throw otherLayout(where, layout);
    return new Account(windows, reservations ?? [], settled ?? []);
  }

  toText(): string {
    const [reservations, settled] = [[...this.reservations], [...this.settled]];
    const json: AccountJson = { layout: LAYOUT, windows: this.windows, reservations, settled };
    return JSON.stringify(json);
  }

  get reserved(): NanoDollars {
    let sum = 0;
    for (const { amount } of this.reservations.values()) sum = addNanoDollars(sum, amount);
    return sum;
  }

  /** Removes expired reservations, and begins new windows. */
  moveTo(now: Instant): void {
    if (this.windows) this.windows = windowsAt(this.windows, now);
    for (const [id, { expiresAt }] of this.reservations) if (expiresAt <= now) this.reservations.delete(id);
  }

  reserve(reservation: BackendReservation, now: Instant): NanoRefusal | undefined {
    const { inferenceId, amount, limits, expiresInSeconds } = reservation;
    if (this.reservations.has(inferenceId)) return undefined;
    const windows = windowsAt(this.windows, now);
    const refusal = refusalOf(windows, { amount, reserved: this.reserved, limits });
    if (refusal) return refusal;
    this.windows = windows;
    this.reservations.set(inferenceId, { amount, expiresAt: Math.ceil(now + expiresInSeconds * 1_000) });
    return undefined;
  }

  /** @param keepUntil the instant until which the id is kept */
  settle({ inferenceId, amount }: BackendSettlement, now: Instant, keepUntil: Instant): void {
    this.windows = windowsWith(windowsAt(this.windows, now), amount);
    this.reservations.delete(inferenceId);
    this.settled.set(inferenceId, keepUntil);
  }

  release(inferenceId: string): void {
    this.reservations.delete(inferenceId);
  }
}

interface AccountJson {
  readonly layout: number;
  readonly windows: CountedWindows | undefined;
  readonly reservations: readonly (readonly [string, Reservation])[];
  readonly settled: readonly (readonly [string, Instant])[];
}

function parse(text: string | undefined, where: string): object {
  try {
    return Object(JSON.parse(text ?? ''));
  } catch (cause) {
    throw new StateFormatError(where, 'an account of spending', 'other data', { cause });
  }
}

function otherLayout(where: string, found: unknown): StateFormatError {
  const isNewer = Number(found) > LAYOUT;
  const advice = isNewer
    ? 'a newer release wrote this, open it with that release'
    : 'choose another table for the ledger';
  const code = isNewer ? 'STATE_VERSION' : 'STATE_FORMAT';
  return new StateFormatError(where, `layout ${LAYOUT}; ${advice}`, `layout ${String(found)}`, { code });
}
