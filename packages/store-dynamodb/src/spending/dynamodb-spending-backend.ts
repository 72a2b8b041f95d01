import type { Clock, Instant } from '@holdfast/core';
import type {
  BackendReservation,
  BackendSettlement,
  NanoRefusal,
  SpendingAccount,
  SpendingBackend,
  SpendingCall,
} from '@holdfast/core/spending';
import { StoreThrottledError } from '@holdfast/core/store';
import { backOff } from '../table/requests.ts';
import type { Account } from './account.ts';
import type { AccountTable } from './account-table.ts';

interface BackendOptions {
  readonly accounts: AccountTable;
  readonly clock: Clock;
  /** The milliseconds for which the ids of settled calls are kept. */
  readonly keepIds: number;
}

type Refused = NanoRefusal | undefined;

/** A change of an account that waits for the next write. */
interface Change {
  readonly inferenceId: string;
  /** Changes the account, and returns the refusal of a reservation. Not called for a call that was settled. */
  readonly apply: (account: Account, now: Instant) => Refused;
  readonly resolve: (refused: Refused) => void;
  readonly reject: (error: unknown) => void;
}

/** A write changes an account for at most so many calls. */
const CHANGES_A_WRITE = 50;
/** The number of settled calls in an account from which each gets an item of its own. */
const MAX_SETTLED = 25;
/** Each attempt loses only to a write that succeeded. */
const ATTEMPTS = 100;
/** The longest pause doubles up to this attempt. */
const LAST_LONGER_PAUSE = 3;

/**
 * Counts each owner in one item, which each write replaces on the condition of its revision. The calls of one process
 * that wait for an owner share a write.
 */
export class DynamoDbSpendingBackend implements SpendingBackend {
  private readonly accounts: AccountTable;
  private readonly clock: Clock;
  private readonly keepIds: number;
  private readonly waiting = new Map<string, Change[]>();

  constructor({ accounts, clock, keepIds }: BackendOptions) {
    this.accounts = accounts;
    this.clock = clock;
    this.keepIds = keepIds;
  }

  reserve(reservation: BackendReservation): Promise<Refused> {
    const { owner, inferenceId } = reservation;
    return this.change(owner, inferenceId, (account, now) => account.reserve(reservation, now));
  }

  async settle(settlement: BackendSettlement): Promise<void> {
    const { owner, inferenceId } = settlement;
    await this.change(owner, inferenceId, (account, now) => {
      account.settle(settlement, now, Math.ceil(now + this.keepIds));
      return undefined;
    });
  }

  async release({ owner, inferenceId }: SpendingCall): Promise<void> {
    await this.change(owner, inferenceId, (account) => {
      account.release(inferenceId);
      return undefined;
    });
  }

  async read(owner: string): Promise<SpendingAccount> {
    const { account } = await this.accounts.read(owner);
    account.moveTo(this.clock.now());
    return { windows: account.windows, reserved: account.reserved };
  }

  async close(): Promise<void> {
    this.accounts.close();
  }

  /** Adds a change to the next write of the account. */
  private change(owner: string, inferenceId: string, apply: Change['apply']): Promise<Refused> {
    return new Promise((resolve, reject) => {
      const change = { inferenceId, apply, resolve, reject };
      const queue = this.waiting.get(owner);
      if (queue) {
        queue.push(change);
        return;
      }
      this.waiting.set(owner, [change]);
      void this.writeAll(owner);
    });
  }

  /** Writes the waiting changes of an owner until none waits. */
  private async writeAll(owner: string): Promise<void> {
    for (;;) {
      const changes = this.waiting.get(owner)?.splice(0, CHANGES_A_WRITE) ?? [];
      if (changes.length === 0) break;
      try {
        const refused = await this.write(owner, changes);
        for (const [index, { resolve }] of changes.entries()) resolve(refused[index]);
      } catch (error) {
        for (const { reject } of changes) reject(error);
      }
    }
    this.waiting.delete(owner);
  }

  /** Repeats a write until no other process was first. */
  private async write(owner: string, changes: readonly Change[]): Promise<readonly Refused[]> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const refused = await this.tryToWrite(owner, changes);
      if (refused) return refused;
      await backOff(Math.min(attempt, LAST_LONGER_PAUSE));
    }
    throw new StoreThrottledError(`Other processes changed the account first, in ${ATTEMPTS} attempts.`);
  }

  /** Applies changes to the stored account. Returns `undefined` if another process was first. */
  private async tryToWrite(
    owner: string,
    changes: readonly Change[],
  ): Promise<readonly Refused[] | undefined> {
    const { account, rev } = await this.accounts.read(owner);
    const before = account.toText();
    const now = this.clock.now();
    // Read after the account: a call leaves the account only once it has an item.
    const settled = await this.settledAmong(owner, changes, now);
    if (account.settled.size >= MAX_SETTLED) {
      await this.accounts.putSettled(owner, account.settled);
      for (const id of account.settled.keys()) settled.add(id);
      account.settled.clear();
    }
    account.moveTo(now);
    const refused = changes.map(({ inferenceId, apply }) => {
      if (settled.has(inferenceId) || account.settled.has(inferenceId)) return undefined;
      return apply(account, now);
    });
    const isWritten = account.toText() === before || (await this.accounts.replace(owner, account, rev));
    return isWritten ? refused : undefined;
  }

  private async settledAmong(owner: string, changes: readonly Change[], now: Instant): Promise<Set<string>> {
    const ids = [...new Set(changes.map(({ inferenceId }) => inferenceId))];
    const found = await Promise.all(ids.map((id) => this.accounts.isSettled(owner, id, now)));
    return new Set(ids.filter((_, index) => found[index]));
  }
}
