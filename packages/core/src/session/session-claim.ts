import type { Instant } from '../clock.ts';
import type { StateFormatError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { AgentSession } from './session.ts';
import type { WorkFailure } from './work-failure.ts';

/** Options of calls for one owner. */
export interface OwnerOptions {
  /** The session of another owner behaves as if it did not exist. Default: the session of any owner, or of none. */
  readonly owner?: string | undefined;
}

/** Options of `SessionStore.enqueue`. */
export interface EnqueueOptions extends OwnerOptions {
  /**
   * Names what the item does, such as the call that it decides: 1 to 200 characters. A full inbox stores such an item
   * beyond its limit. Of the items of one name that came to the full inbox, it stores the first: others are answered as
   * its repetitions. It holds at most 100 items beyond its limit, and always one more of the name `stop`.
   */
  readonly reserve?: string | undefined;
}

/** Options of `SessionStore.load`. */
export interface LoadOptions extends OwnerOptions {
  /**
   * The session as this store returned it before. While the content is the same, the store reads only the record and
   * returns the base. Otherwise it reads what was added since, or the whole content after an edit.
   */
  readonly base?: AgentSession | undefined;
}

/** The exclusive right of one worker to work on a session, until an instant. */
export interface SessionClaim {
  readonly sessionId: string;
  /** The incarnation of the claimed session. A session created later under the same id has another incarnation. */
  readonly incarnation: string;
  /** The owner of the claimed session; absent for a session without an owner. */
  readonly owner?: string | undefined;
  /** The worker of the claim: `ClaimOptions.workerId`. */
  readonly workerId: string;
  /**
   * The fencing token. Each claim of the session has a higher epoch than the claim before; the store refuses a save
   * with an older one.
   */
  readonly epoch: number;
  /** When another worker can claim the session, unless the claim is renewed. */
  readonly until: Instant;
  /** True for a claim of a suspect session with `ifSuspect: 'alone'`: the death of its worker counts as an attempt. */
  readonly isAlone?: boolean | undefined;
}

/** Options of `SessionStore.claim`. */
export interface ClaimOptions extends LoadOptions {
  /**
   * The worker of the claim: any text of 1 to 1,000 characters, new for each claim. The worker that holds the claim
   * renews it by another claim with the same id, so a caller can repeat a claim whose reply did not arrive.
   */
  readonly workerId: string;
  /** The number of seconds that the claim lasts unless it is renewed. */
  readonly leaseSeconds: number;
  /**
   * How to claim a suspect session, whose last worker died before it released its claim, or stood still:
   * - `accept` (default): as any other session. If the worker dies, the death does not count as an attempt.
   * - `alone`: the worker works on no other session until the claim ends. If it dies, the death counts as an attempt.
   * - `refuse`: the store refuses the claim.
   */
  readonly ifSuspect?: 'accept' | 'alone' | 'refuse' | undefined;
}

/** The result of a claim: the session, the claim and the oldest inbox items. */
export interface ClaimedSession extends InboxPage {
  readonly session: AgentSession;
  readonly claim: SessionClaim;
  /**
   * The number of the attempt, from 1: one more than the deaths of workers since the last release or closed step. Only the
   * death of a worker that worked on no other session counts, as `ClaimOptions.ifSuspect` says. A worker that stood still
   * counts as one that died.
   */
  readonly attempt: number;
  /** The last failure of work on the session, if no work has succeeded since. */
  readonly failure?: WorkFailure | undefined;
}

/** A renewed claim, and the inbox items that the caller has not read. */
export interface RenewedClaim extends InboxPage {
  readonly claim: SessionClaim;
}

/** Options of `SessionStore.renew`. */
export interface RenewOptions extends Pick<ClaimOptions, 'leaseSeconds' | 'owner'> {
  /**
   * The session as this store last returned it to the worker. The store then reads the record only if another writer has
   * changed it, and the next save based on the session need not read it first.
   */
  readonly base?: AgentSession | undefined;
  /**
   * The position of the last item that the caller has read. The page begins behind it. Default: the page begins at the
   * oldest item.
   */
  readonly after?: number | undefined;
  /** The worker now works on other sessions too, so its death no longer counts as an attempt. */
  readonly isShared?: boolean | undefined;
  /** True when the worker stood still: the session is suspect after this claim, as after the death of the worker. */
  readonly isSuspect?: boolean | undefined;
}

/** Options of `SessionStore.release`. */
export interface ReleaseOptions extends Pick<RenewOptions, 'owner' | 'base' | 'isSuspect'> {
  /** Does not release the claim while items wait in the inbox. Default: releases it in any case. */
  readonly onlyIfIdle?: boolean | undefined;
}

/** A page of an inbox: the oldest waiting items, readable or not, at most 100. The inbox may hold more. */
export interface InboxPage {
  /** The readable items, oldest first. */
  readonly inbox: readonly InboxItem[];
  /** The unreadable items, oldest first. They stay in the inbox, for a newer release or a repair. */
  readonly unreadable: readonly UnreadableItem[];
}

/** An unreadable inbox item: it is damaged, or a newer release wrote it. */
export interface UnreadableItem {
  readonly position: number;
  /** Its code is `STATE_VERSION` when a newer release wrote the item. */
  readonly error: StateFormatError;
}

/** Identifies an inbox item by the id and the position that the store returned together. */
export type InboxItemRef = Pick<InboxItem, 'id' | 'position'>;

/** An inbox item, which waits until a worker of the session uses it. */
export interface InboxItem {
  /** Any text of 1 to 1,000 characters. */
  readonly id: string;
  /** The index of the item among all items that were ever enqueued for the session, from 0. */
  readonly position: number;
  /** An `InboxContent` when a runtime enqueued the item. A store accepts any JSON. */
  readonly content: JsonValue;
  /** When the item was enqueued, by the clock that the store uses. */
  readonly enqueuedAt: Instant;
}
