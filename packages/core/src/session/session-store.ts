import type { Instant } from '../clock.ts';
import type { ExecutionStatus } from '../state/execution/status.ts';
import type { Waiting } from '../state/values/waiting.ts';
import type { SessionInspection } from './session-inspection.ts';
import type {
  ExecutionPage,
  ExecutionQuery,
  PageQuery,
  RevisionPage,
  RevisionQuery,
} from './session-pages.ts';
import type {
  ClaimedSession,
  ClaimOptions,
  EnqueueOptions,
  InboxItem,
  InboxItemRef,
  LoadOptions,
  OwnerOptions,
  ReleaseOptions,
  RenewedClaim,
  RenewOptions,
  SessionClaim,
} from './session-claim.ts';
import type { StateFormatError } from '../errors.ts';
import type { AgentSession, SessionRevision } from './session.ts';
import type { ListedSession, SessionStatus } from './session-info.ts';
import type { FailedWork, WorkFailure } from './work-failure.ts';

/** When a session expires: at an instant, or a number of seconds after the last write to it, of any kind. */
export type SessionExpiry = { readonly at: Instant } | { readonly afterSeconds: number };

/** Options of `SessionStore.create`. */
export interface CreateOptions {
  /** Default: the `expiry` option of the store; without that option the session never expires. */
  readonly expiry?: SessionExpiry | undefined;
}

/** Options of `SessionStore.save`. */
export interface SaveOptions extends OwnerOptions {
  /**
   * The session as this store last returned it from `load`, `create`, `claim` or `save`. The store compares both
   * sessions by identity and writes only the parts that changed. Without a base, the store writes the whole session.
   */
  readonly base?: AgentSession | undefined;
  /**
   * Names this save over all its retries, which pass the same session and base. A store that has already done the
   * operation returns successfully. A reply that did not arrive therefore causes neither a conflict nor a second save.
   */
  readonly operationId?: string | undefined;
  /**
   * The epoch of the claim under which the caller saves. The store refuses a save without an epoch while a worker holds
   * a claim.
   */
  readonly epoch?: number | undefined;
  /**
   * The inbox items that this save uses. The store removes them in the same write. It ignores items that do not wait.
   */
  readonly acknowledge?: readonly InboxItemRef[] | undefined;
  /** Where in the run the session was saved. The list of revisions shows it. */
  readonly checkpoint?: string | undefined;
  /** The expiry from this save on; `null`: the session never expires. Default: the expiry does not change. */
  readonly expiry?: SessionExpiry | null | undefined;
}

/** Options of `SessionStore.delete`. */
export interface DeleteOptions extends OwnerOptions {
  /** The store deletes only this revision. Default: any revision. */
  readonly revision?: SessionRevision | undefined;
}

/** The instant by which lists of sessions are ordered. */
export type SessionOrder = 'createdAt' | 'lastActiveAt';

/** Selects the sessions to list. A session must meet every condition that is set. */
export interface SessionQuery extends PageQuery {
  /** Lists only the sessions of this owner. */
  readonly owner?: string | undefined;
  readonly status?: SessionStatus | undefined;
  readonly agentName?: string | undefined;
  /** Lists only the child sessions of this session. */
  readonly parentId?: string | undefined;
  /** The status of the execution. */
  readonly executionStatus?: ExecutionStatus | undefined;
  /** The type of the first entry in the `waiting` of the execution. */
  readonly waitingFor?: Waiting['type'] | undefined;
  /**
   * Newest first, by creation (default) or by last activity. The order by creation is stable while other writers write.
   * Sessions of the same instant are ordered by id, by code point.
   */
  readonly order?: SessionOrder | undefined;
}

/** A session whose record this release cannot read: the record is damaged, or a newer release wrote it. */
export interface UnreadableSession {
  readonly sessionId: string;
  /** Its code is `STATE_VERSION` when a newer release wrote the record. */
  readonly error: StateFormatError;
}

/** A page of the sessions that match a query. */
export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /**
   * The sessions between them whose records this release cannot read, as far as the index knows that they match. They
   * count to the limit of the page.
   */
  readonly unreadable: readonly UnreadableSession[];
  /** The cursor to pass for the next page; `undefined` on the last page. */
  readonly cursor: string | undefined;
}

/** The properties in which stores differ. */
export interface StoreCapabilities {
  /** `eventual`: `list` and `due` may lag behind writes for a short time. */
  readonly listing: 'strong' | 'eventual';
  /** The clock by which leases and sessions expire: that of the database server, or that of the client process. */
  readonly clock: 'server' | 'client';
  /**
   * The largest message, step or value that the store accepts, in bytes of JSON; `undefined`: only memory limits it.
   */
  readonly maxValueBytes: number | undefined;
}

/**
 * The sessions, one by one, and their lists. A store implements it together with `SessionDirectory`. Every write is
 * conditional on the revision that it was based on. Of two writers with the same base, one succeeds; the other gets a
 * `SessionConflictError` and has changed nothing. Every acknowledged save can be loaded.
 *
 * All methods reject with `StoreUnavailableError` when the storage does not reply, and with `StoreThrottledError` when
 * it accepts no more requests. They reject with `StateFormatError` when the stored data is unreadable, and leave that
 * data untouched. An invalid id, or the id of an expired session, behaves as if the session did not exist.
 */
export interface SessionStore {
  readonly capabilities: StoreCapabilities;
  /**
   * Saves a new session of version 0 as version 1, and returns it.
   * @throws SessionConflictError `exists` when the id is taken. When another owner has taken it, the error does not tell
   * the version of that session.
   */
  create(session: AgentSession, options?: CreateOptions): Promise<AgentSession>;
  /** Returns the session as it was last saved; `undefined` when it does not exist. */
  load(sessionId: string, options?: LoadOptions): Promise<AgentSession | undefined>;
  /**
   * Replaces the revision that the session is based on, and returns the session as the next version. The owner and the
   * parent of a session never change.
   * @throws SessionNotFoundError when the session does not exist, or the stored session has another owner.
   * @throws SessionConflictError when the store holds another revision, or `fenced` when another worker has claimed the
   * session.
   * @throws SessionBusyError for a save without an epoch while a worker holds a claim.
   * @throws SessionTooLargeError when the session is larger than the store accepts.
   * @throws HoldfastError `OPERATION_REUSED` when the operation id was used for another save; RangeError
   * `ARGUMENT_INVALID` when the session names another parent than the stored session.
   */
  save(session: AgentSession, options?: SaveOptions): Promise<AgentSession>;
  /**
   * Claims a session, and returns it with its oldest inbox items. Of several simultaneous callers, one gets the claim.
   * The store reads no content for a refused claim. For a claim with a base, it reads only what was added since.
   * @throws SessionNotFoundError; SessionBusyError while the claim of another worker lasts; SessionSuspectError as
   * `ifSuspect` demands.
   */
  claim(sessionId: string, options: ClaimOptions): Promise<ClaimedSession>;
  /**
   * Extends a claim to `leaseSeconds` from now, and returns the inbox items behind `after`. Even an expired claim can
   * be renewed if no other worker has claimed the session since.
   * @throws SessionNotFoundError, also when the claim names another owner than the stored session; SessionConflictError
   * `fenced` when the claim was released or another worker has claimed the session, `recreated` when the session was
   * deleted and created again.
   */
  renew(claim: SessionClaim, options: RenewOptions): Promise<RenewedClaim>;
  /**
   * Releases a claim, so that another worker can claim the session at once. Returns `false` when the claim was no
   * longer valid, or names another owner than the stored session. With `onlyIfIdle` it also returns `false` when items
   * wait in the inbox, and the claim stays.
   */
  release(claim: SessionClaim, options?: ReleaseOptions): Promise<boolean>;
  /**
   * Adds an item to the inbox of a session, and makes the session due. The caller needs no claim and no revision.
   * Returns `false` when an item with this id waits, or is among the last 16 used items, also when the inbox is full. The
   * cost does not depend on the number of waiting items. A full inbox refuses other items, except as `reserve` says.
   * @throws SessionNotFoundError; InboxFullError; HoldfastError `NOT_JSON`; RangeError or TypeError `ARGUMENT_INVALID`.
   */
  enqueue(
    sessionId: string,
    item: Pick<InboxItem, 'id' | 'content'>,
    options?: EnqueueOptions,
  ): Promise<boolean>;
  /**
   * Removes an item from the inbox. Returns `false` when no item with this id waits, and when a worker that may use the
   * item has read it: the item then has its effect, or waits until the claim of that worker is released.
   * @throws SessionNotFoundError
   */
  removeItem(sessionId: string, itemId: string, options?: OwnerOptions): Promise<boolean>;
  /**
   * Records that work on a session failed outside of its execution. The session is due again after the next of the delays;
   * after the last one it is a dead letter, which is not due, until something comes into its inbox. `undefined` clears the
   * failure. Returns the failure as it was recorded, and `undefined` when the session is gone. Needs no claim.
   */
  recordFailure(
    sessionId: string,
    failed: FailedWork | undefined,
    options?: OwnerOptions,
  ): Promise<WorkFailure | undefined>;
  /** Returns true when the session exists. */
  exists(sessionId: string, options?: OwnerOptions): Promise<boolean>;
  /**
   * Returns the facts about a session that the store holds beside its content: its claim, its inbox, when it is due, its
   * size. It changes nothing, and needs no claim.
   * @throws SessionNotFoundError
   */
  inspect(sessionId: string, options?: OwnerOptions): Promise<SessionInspection>;
  /**
   * Returns a page of the executions that the session has had, newest first, the unfinished one included.
   * @throws SessionNotFoundError; RangeError or TypeError `ARGUMENT_INVALID` for an invalid limit or cursor.
   */
  executions(sessionId: string, query?: ExecutionQuery): Promise<ExecutionPage>;
  /**
   * Returns a page of the revisions of the session that can be loaded, newest first: the last one, and as many before as
   * the store's option `keptRevisions` sets.
   * @throws SessionNotFoundError; RangeError or TypeError `ARGUMENT_INVALID` for an invalid limit or cursor.
   */
  revisions(sessionId: string, query?: RevisionQuery): Promise<RevisionPage>;
  /** Returns the session as it was at a version; `undefined` when the store no longer has that version. */
  loadRevision(sessionId: string, version: number, options?: OwnerOptions): Promise<AgentSession | undefined>;
  /**
   * Deletes a session, also while a worker holds a claim on it. Returns `false` when the session did not exist. Without
   * a revision, it also deletes a session whose record is unreadable.
   * @throws SessionConflictError when the store holds another revision.
   */
  delete(sessionId: string, options?: DeleteOptions): Promise<boolean>;
  /**
   * Returns a page of sessions, newest first. A session whose record is unreadable is in `unreadable`, and the list
   * continues behind it.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid query, limit or cursor.
   */
  list(query?: SessionQuery): Promise<SessionPage>;
}
