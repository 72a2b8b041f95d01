import { randomUUID } from 'node:crypto';
import type { Instant } from '@holdfast/core';
import { StoreThrottledError } from '@holdfast/core/store';
import { itemBytes, keyItem, type Item } from '../table/item.ts';
import { sha256, type ItemKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { Account } from './account.ts';

/** An account as it is stored, with its revision; `undefined` without an item. */
export interface StoredAccount {
  readonly account: Account;
  readonly rev: string | undefined;
}

/** The attribute for native TTL: the end of an item in seconds since 1970. */
const TTL_ATTRIBUTE = 'expires';

const ACCOUNT = 'A';
const MAX_PLAIN_OWNER_BYTES = 512;
/** Below the 400 KB of an item. */
const MAX_ACCOUNT_BYTES = 350_000;

/** Reads and writes the items of a ledger: one for each account, and one for each settled call. */
export class AccountTable {
  private readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** Destroys the client if this package created it. */
  close(): void {
    this.table.close();
  }

  async read(owner: string): Promise<StoredAccount> {
    const item = await this.table.get(accountKey(owner));
    if (item === undefined) return { account: Account.empty(), rev: undefined };
    const where = `the account of ${JSON.stringify(owner)}`;
    return { account: Account.fromText(item['account']?.S, where), rev: item['rev']?.S };
  }

  /** Whether the item of a settled call is stored and must be kept at this instant. */
  async isSettled(owner: string, inferenceId: string, now: Instant): Promise<boolean> {
    const item = await this.table.get(callKey(owner, inferenceId));
    return Number(item?.['keepUntil']?.N ?? 0) > now;
  }

  /** Puts the items of calls that the stored account lists as settled. */
  async putSettled(owner: string, settled: ReadonlyMap<string, Instant>): Promise<void> {
    const items = [...settled].map(([id, keepUntil]): Item => ({
      ...keyItem(callKey(owner, id)),
      keepUntil: { N: String(keepUntil) },
      [TTL_ATTRIBUTE]: { N: String(Math.ceil(keepUntil / 1_000)) },
    }));
    await this.table.putEach(items);
  }

  /**
   * Replaces an account if the stored one has this revision. Returns false if another writer was first.
   * @throws StoreThrottledError when the owner has too many open reservations for one item
   */
  async replace(owner: string, account: Account, rev: string | undefined): Promise<boolean> {
    const item: Item = {
      ...keyItem(accountKey(owner)),
      rev: { S: randomUUID() },
      account: { S: account.toText() },
    };
    if (itemBytes(item) > MAX_ACCOUNT_BYTES) throw new StoreThrottledError(FULL);
    return (await this.table.compareAndPut(item, rev)).isDone;
  }

  /** Reads an item that does not exist. @throws StoreUnavailableError when no server replies, or there is no table. */
  async check(): Promise<void> {
    await this.table.get({ pk: 'O', sk: ACCOUNT });
  }
}

const FULL =
  'The owner has too many open reservations for one item. Settle calls, or reserve for fewer seconds.';

function accountKey(owner: string): ItemKey {
  return { pk: partitionOfOwner(owner), sk: ACCOUNT };
}

function callKey(owner: string, inferenceId: string): ItemKey {
  return { pk: partitionOfOwner(owner), sk: `C#${inferenceId}` };
}

/** Longer names are hashed, because a partition key has at most 2,048 bytes and every item repeats it. */
function partitionOfOwner(owner: string): string {
  return Buffer.byteLength(owner) <= MAX_PLAIN_OWNER_BYTES
    ? `O#${owner}`
    : `P#${sha256(owner).toString('hex')}`;
}
