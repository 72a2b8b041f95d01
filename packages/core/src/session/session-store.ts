import type { Instant } from '../clock.ts';
import type { StateFormatError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { ExecutionStatus } from '../state/execution/status.ts';
import type { Waiting } from '../state/execution/waiting.ts';
import type { AgentSession, SessionRevision } from './session.ts';
import type { ListedSession, SessionStatus } from './session-info.ts';

/** When a session is forgotten: at a moment, or so long after the last write to it, of any kind. */
export type SessionExpiry = { readonly at: Instant } | { readonly afterSeconds: number };

/** What is said of a session beside itself when it is created. */
export interface CreateOptions {
  /** Default: what the store was made with, or never. */
  readonly expiry?: SessionExpiry | undefined;
}

/** What a save is based on, whose it is, and what goes with it. All may be absent. */
export interface SaveOptions {
  /**
   * The session as this store answered it last, when it was loaded, created, claimed or saved. Values share structure,
   * so a store can tell by identity what changed since, and write only that. Absent: everything is written.
   */
  readonly base?: AgentSession | undefined;
  /**
   * Names this save over all its retries, which pass the same session and base. A store that finds its own operation
   * already done answers with success, so a reply that was lost is neither a conflict nor a second save.
   */
  readonly operationId?: string | undefined;
  /** The epoch of the claim under which it is done. Absent: refused while somebody works on the session. */
  readonly epoch?: number | undefined;
  /** The inbox items that this save uses. They leave the inbox in the same write; items that do not wait are ignored. */
  readonly acknowledge?: readonly InboxItemRef[] | undefined;
  /** From now on; `null` for never. Absent: as before. */
  readonly expiry?: SessionExpiry | null | undefined;
}

/** What the caller of `load` knows already. */
export interface LoadOptions {
  /**
   * The session as this store answered it before. While the stored content is the same, the store answers the base and
   * reads only the record; otherwise it reads the content, as without a base.
   */
  readonly base?: AgentSession | undefined;
}

/** Which session is meant. */
export interface DeleteOptions {
  /** Delete only this revision. Absent: whatever there is. */
  readonly revision?: SessionRevision | undefined;
}

/** The right to work on a session, until a moment. */
export interface SessionClaim {
  readonly sessionId: string;
  /** Of the session that was claimed: one created later under the same id has another. */
  readonly incarnation: string;
  /** The worker of the claim: `ClaimOptions.workerId`. */
  readonly workerId: string;
  /** Higher than that of every claim before: a save with a lower one is refused. */
  readonly epoch: number;
  /** When others may take the session over, unless the claim is renewed. */
  readonly until: Instant;
}

/** Who wants to work on a session, and for how long. */
export interface ClaimOptions extends LoadOptions {
  /**
   * Who asks: any text of 1 to 1,000 characters, another one for each piece of work. A claim by who holds one is that
   * claim, renewed, so that a lost reply may be asked for again.
   */
  readonly workerId: string;
  /** How long the claim lasts without being renewed. */
  readonly leaseSeconds: number;
}

/** What a claim gives. */
export interface ClaimedSession extends InboxPage {
  readonly session: AgentSession;
  readonly claim: SessionClaim;
  /** 1, and one more for every claim before it that ended without a release and without a finished step. */
  readonly attempt: number;
}

/** A claim that lasts longer, and what has come in. */
export interface RenewedClaim extends InboxPage {
  readonly claim: SessionClaim;
}

/** How a claim is renewed. */
export interface RenewOptions extends Pick<ClaimOptions, 'leaseSeconds'> {
  /** The session as this store answered the holder last: the next save based on it need not read the record first. */
  readonly base?: AgentSession | undefined;
  /** The position of the last item that the caller has read: the page begins behind it. Default: at the oldest item. */
  readonly after?: number | undefined;
}

/** The oldest items that wait, readable or not, at most 100; an inbox may hold more. */
export interface InboxPage {
  /** Items that can be read, oldest first. */
  readonly inbox: readonly InboxItem[];
  /** Items that this release cannot read, oldest first. They stay in the inbox, for a newer release or a repair. */
  readonly unreadable: readonly UnreadableItem[];
}

/** An item of an inbox that could not be read. */
export interface UnreadableItem {
  readonly position: number;
  /** `STATE_VERSION` when a newer release wrote it. */
  readonly error: StateFormatError;
}

/** Which item of an inbox is meant: the id and the position that the store answered together. */
export type InboxItemRef = Pick<InboxItem, 'id' | 'position'>;

/** Something for whoever works on a session next. */
export interface InboxItem {
  /** Any text of 1 to 1,000 characters. */
  readonly id: string;
  /** Its place among all items that the session ever got: 0 for the first. */
  readonly position: number;
  /** For a runtime an `InboxContent`; a store keeps any JSON. */
  readonly content: JsonValue;
  /** When it came in, by the clock that the store goes by. */
  readonly enqueuedAt: Instant;
}

/** By what lists of sessions are ordered. */
export type SessionOrder = 'createdAt' | 'lastActiveAt';

/** Which sessions to list. Each condition that is given must hold. */
export interface SessionQuery {
  readonly status?: SessionStatus | undefined;
  readonly agentName?: string | undefined;
  /** Sessions that the agent of this one has started. */
  readonly parentId?: string | undefined;
  /** How far the execution has got. */
  readonly executionStatus?: ExecutionStatus | undefined;
  /** The kind of thing that the execution waits for. */
  readonly waitingFor?: Waiting['type'] | undefined;
  /** Newest first, by creation (default; stable while others write) or by last activity; ties by id, by code point. */
  readonly order?: SessionOrder | undefined;
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined;
  /** Where the page before ended. */
  readonly cursor?: string | undefined;
}

/** Some of the sessions that fit a query. */
export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Where the next page begins; `undefined` on the last. */
  readonly cursor: string | undefined;
}

/** Which sessions need somebody. */
export interface DueQuery {
  /** Due by this moment; default: now. */
  readonly at?: Instant | undefined;
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined;
  /** Where the page before ended. */
  readonly cursor?: string | undefined;
}

/** A session that needs somebody, and since when. */
export interface DueSession {
  readonly sessionId: string;
  readonly dueAt: Instant;
}

/** Some of the sessions that are due. */
export interface DuePage {
  /** Longest due first. */
  readonly sessions: readonly DueSession[];
  /** Where the next page begins; `undefined` on the last. */
  readonly cursor: string | undefined;
}

/** What stores differ in. */
export interface StoreCapabilities {
  /** `eventual`: a list, and what is due, may lag behind writes for a moment. */
  readonly listing: 'strong' | 'eventual';
  /** Whose clock leases and expiry go by. */
  readonly clock: 'server' | 'client';
  /** The largest message, step or value that fits, in bytes of JSON; `undefined`: no limit but memory. */
  readonly maxValueBytes: number | undefined;
}

/**
 * Keeps sessions. Every write is conditional on the revision it was based on: of two writers with one base one
 * wins, and the other gets a `SessionConflictError` and has changed nothing. What was acknowledged can be loaded.
 *
 * All methods reject with `StoreUnavailableError` when the storage does not answer, with `StoreThrottledError` when it
 * takes no more, and with `StateFormatError` when what it holds cannot be read; that is then left untouched. A string
 * that cannot be a session id names no session: it is absent. So does the id of a session that has expired.
 */
export interface SessionStore {
  readonly capabilities: StoreCapabilities;
  /** Keeps a new session, version 0, as version 1. @throws SessionConflictError `exists` when its id is taken. */
  create(session: AgentSession, options?: CreateOptions): Promise<AgentSession>;
  /** The session as last saved; `undefined` when there is none. */
  load(sessionId: string, options?: LoadOptions): Promise<AgentSession | undefined>;
  /**
   * Keeps a session in place of the revision it was made from, as the next version.
   * @throws SessionNotFoundError when it is gone; SessionConflictError when another revision is there, or `fenced` when
   * the claim is lost; SessionBusyError without an epoch while it is claimed; SessionTooLargeError; HoldfastError
   * `OPERATION_REUSED` when the operation was done with something else.
   */
  save(session: AgentSession, options?: SaveOptions): Promise<AgentSession>;
  /**
   * The session, with the right to work on it. Of many that ask at once one gets it. A refused claim reads no content; a
   * claim with a base reads it only when it has changed since.
   * @throws SessionNotFoundError; SessionBusyError while another claim lasts.
   */
  claim(sessionId: string, options: ClaimOptions): Promise<ClaimedSession>;
  /**
   * Extends a claim to `leaseSeconds` from now, even an expired one if nobody has claimed the session since. Answers what
   * waits in the inbox behind `after`.
   * @throws SessionNotFoundError; SessionConflictError `fenced` or `recreated` when it is lost.
   */
  renew(claim: SessionClaim, options: RenewOptions): Promise<RenewedClaim>;
  /**
   * Ends a claim, so that others need not wait. `false` when it was lost before; with `onlyIfIdle` also when something
   * is in the inbox, and then the claim stays.
   */
  release(claim: SessionClaim, options?: { readonly onlyIfIdle?: boolean | undefined }): Promise<boolean>;
  /**
   * Adds an item to the inbox, for whoever works on the session next, and makes the session due. Needs no claim and no
   * revision. `false` when an item with this id waits, or is among the last 16 that were used. Costs the same however many
   * items wait. A full inbox refuses an item that waits in it, too.
   * @throws SessionNotFoundError; InboxFullError; HoldfastError `NOT_JSON`, `ARGUMENT_INVALID`.
   */
  enqueue(sessionId: string, item: Pick<InboxItem, 'id' | 'content'>): Promise<boolean>;
  /** Is there such a session? */
  exists(sessionId: string): Promise<boolean>;
  /**
   * Forgets a session, also while somebody works on it. `false` when there was none. Without a revision, a session whose
   * record cannot be read is forgotten too, where the store can find what belongs to it: in memory, SQLite and Redis.
   * @throws SessionConflictError when another revision is there.
   */
  delete(sessionId: string, options?: DeleteOptions): Promise<boolean>;
  /** A page of sessions, newest first. @throws HoldfastError `ARGUMENT_INVALID` for a limit or a cursor that cannot be. */
  list(query?: SessionQuery): Promise<SessionPage>;
  /**
   * A page of the active sessions that need somebody, longest due first: a wake-up time has come, work is left that
   * nobody does, a claim has run out, or there is something in the inbox. One that cannot be read is among them, so that it
   * holds up no others: whoever looks at it hears what is wrong with it.
   */
  due(query?: DueQuery): Promise<DuePage>;
  /** Removes up to `limit` expired sessions (default 1,000) and returns how many; it only saves space. */
  prune(options?: { readonly limit?: number | undefined }): Promise<number>;
  /**
   * Lets go of what the store opened itself; clients that were passed in stay open. From then on every method rejects with
   * `StoreUnavailableError`, not ambiguous, but this one: to close again does nothing. What is under way may end so, too.
   */
  close(): Promise<void>;
}
