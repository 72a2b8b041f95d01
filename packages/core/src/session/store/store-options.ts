import { mustBe, optionsCheck, type OptionChecks } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import type { SessionExpiry } from '../session-store.ts';
import { COUNT } from './backend/store-arguments.ts';

/** The options of every store. */
export interface StoreOptions {
  /** The source of the time and ids. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** When sessions expire, unless they were created or saved with an expiry of their own. Default: never. */
  readonly expiry?: SessionExpiry | undefined;
  /**
   * The number of items that may wait in the inbox of one session. The store refuses a further item with an
   * InboxFullError. Default: 10,000.
   */
  readonly maxInboxItems?: number | undefined;
  /**
   * The number of revisions of each session that can be loaded, the last one included: see `SessionStore.revisions`. A
   * save then also writes what it replaces. Set it to the same number in every process. Default: 0, which keeps none.
   */
  readonly keptRevisions?: number | undefined;
}

export const MAX_INBOX_ITEMS = 10_000;

/** The checks of `StoreOptions`, for stores that have more options. */
export const storeOptionChecks: OptionChecks<StoreOptions> = Object.freeze({
  clock: mustBe.clock,
  expiry: mustBe.anything, // see checkedExpiry
  maxInboxItems: COUNT,
  keptRevisions: mustBe.wholeNumber(0, 100_000),
});

const EXPIRY = 'pass an expiry, as in expiry: { afterSeconds: 3600 }';
export const checkStoreOptions = optionsCheck<StoreOptions>('store', storeOptionChecks, {
  ttl: EXPIRY,
  expiresIn: EXPIRY,
  path: 'use SqliteSessionStore.open({ path }) for a store in a file',
});
