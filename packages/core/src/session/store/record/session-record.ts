import type { Instant } from '../../../clock.ts';
import { HoldfastError, invalidArgument } from '../../../errors.ts';
import { isTerminal } from '../../../state/execution/status.ts';
import { momentsOfWaiting } from '../../../state/values/waiting.ts';
import { isDeadLetter, nextFailure, type FailedWork, type WorkFailure } from '../../work-failure.ts';
import type { AgentSession, SessionRevision } from '../../session.ts';
import { isItemWaiting, waitingItemCount, withItem, type InboxCursor } from './inbox-cursor.ts';
import { hasReservedPlace, withoutPositions, type InboxLimit, type ReservedItem } from './inbox-reserve.ts';
import type { ListedSession, SessionInfo } from '../../session-info.ts';
import {
  InboxFullError,
  SessionBusyError,
  SessionConflictError,
  SessionNotFoundError,
} from '../../session-errors.ts';
import type { SaveOptions, SessionExpiry } from '../../session-store.ts';
import type { InboxItemRef } from '../../session-claim.ts';
import { newWriteToken } from './write-token.ts';

/**
 * The facts that a store holds about a session beside its content. Plain JSON; each write replaces the whole record.
 */
export interface SessionRecord {
  readonly info: SessionInfo;
  /** New each time that a session is created under an id. */
  readonly incarnation: string;
  /** The number of writes of any kind, this one included. */
  readonly writes: number;
  /**
   * Random, and new for each write. With `incarnation` and `writes` it identifies the record, even in a storage that
   * was restored to an earlier state and written to again.
   */
  readonly token: string;
  /** The token of the last write that changed the content: the creation, or a save. */
  readonly contentToken: string;
  /** The operation of the last save; absent when that save had no operation id. */
  readonly operation?: { readonly id: string; readonly hash: string } | undefined;
  /** The number of claims so far: the epoch of the latest claim. */
  readonly epoch: number;
  /**
   * The worker of the latest claim, and when its lease expires; absent after a release. `isAlone`: the worker works on no
   * other session.
   */
  readonly lease?:
    | {
        readonly workerId: string;
        readonly until: Instant;
        readonly isAlone?: boolean | undefined;
        /** The position of the last inbox item that the worker has read; absent before the first. */
        readonly readTo?: number | undefined;
      }
    | undefined;
  /** The number of the attempt, as in `ClaimedSession.attempt`; 0 after a release. */
  readonly attempt: number;
  /**
   * The worker of the latest claim stood still, and its claim was renewed or released since: the session is suspect until
   * the next claim, as after the death of the worker.
   */
  readonly isSuspect?: boolean | undefined;
  /** Changes when a step is closed, and when an execution begins or ends. */
  readonly progress: string;
  /** When the state needs a worker: now or later; absent when it needs none. */
  readonly wakeAt?: Instant | undefined;
  /** When work on the session last began or ended. Lists of recent sessions are ordered by it. */
  readonly lastActiveAt: Instant;
  /** Records which items wait in the inbox; absent until the first item is enqueued. */
  readonly inbox?: InboxCursor | undefined;
  /** The items that came to the full inbox and wait beyond its limit, with the names of what they do. */
  readonly reserved?: readonly ReservedItem[] | undefined;
  /** The ids of the last used items, in the order of use. */
  readonly usedIds?: readonly string[] | undefined;
  /** The last failure of work on the session; absent once work has succeeded. */
  readonly failure?: WorkFailure | undefined;
  /** A sweep has taken the session to wake it: it is not due before. */
  readonly takenUntil?: Instant | undefined;
  readonly expiry?: SessionExpiry | undefined;
  readonly expiresAt?: Instant | undefined;
  /** The oldest version that can be loaded again; absent when the store keeps no revisions. */
  readonly firstRevision?: number | undefined;
}

export type ClaimedRecord = SessionRecord & { readonly lease: NonNullable<SessionRecord['lease']> };

const REMEMBERED_ITEMS = 16;

export function isExpired({ expiresAt }: SessionRecord, now: Instant): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** True for a session of this owner, and for every session without an owner to compare with. */
export function isOwnedBy({ info }: SessionRecord, owner: string | undefined): boolean {
  return owner === undefined || info.owner === owner;
}

/**
 * Returns the instant at which a worker must look at the session; `undefined` when no worker must. A claimed session is
 * not due before its lease expires, because its worker does the work. Otherwise a session is due at once when items
 * wait in its inbox, and else when its state needs a worker.
 */
export function recordDueAt(record: SessionRecord): Instant | undefined {
  const { info, lease, wakeAt, inbox, failure, takenUntil } = record;
  if (info.status !== 'active') return undefined;
  const { since } = inbox ?? {};
  const wished = since === undefined ? wakeAt : Math.min(since, wakeAt ?? since);
  const ready = failure ? afterFailure(wished, failure) : wished;
  const wanted = ready === undefined ? undefined : Math.max(ready, takenUntil ?? ready);
  return lease ? Math.max(lease.until, wanted ?? lease.until) : wanted;
}

/** When a session is due that wants to be at a moment, and at which work has failed. */
function afterFailure(wanted: Instant | undefined, { retryAt }: WorkFailure): Instant | undefined {
  return wanted === undefined || retryAt === undefined ? undefined : Math.max(wanted, retryAt);
}

/** Returns the name of a record, which no other record has: the condition of a compare-and-set. For stores. */
export function recordName({ incarnation, writes, token }: SessionRecord): string {
  return `${writes}.${token}.${incarnation}`;
}

/** True when the session has the same content in both records. */
export function hasSameContent(left: SessionRecord, right: SessionRecord): boolean {
  return left.incarnation === right.incarnation && left.contentToken === right.contentToken;
}

/** Returns the session as lists show it. For stores. */
export function listedSession({ info, lastActiveAt, failure }: SessionRecord): ListedSession {
  if (failure === undefined) return Object.freeze({ ...info, lastActiveAt });
  return Object.freeze({ ...info, waitingFor: waitingForOf({ info, failure }), lastActiveAt, failure });
}

/** The `waitingFor` of a session in lists: `retry` for a dead letter. For the indexes of stores. */
export function waitingForOf(record: Pick<SessionRecord, 'info' | 'failure'>): SessionInfo['waitingFor'] {
  return record.failure && isDeadLetter(record.failure) ? 'retry' : record.info.waitingFor;
}

export function revisionOf({ info, incarnation }: SessionRecord): SessionRevision {
  return { incarnation, version: info.version };
}

export function createdRecord(
  session: AgentSession,
  { expiry, firstRevision }: Pick<SessionRecord, 'expiry' | 'firstRevision'>,
  now: Instant,
): SessionRecord {
  const { info, revision } = session;
  const { incarnation } = revision;
  const counts = { writes: 0, epoch: 0, attempt: 0 };
  const facts = { expiry, firstRevision, lastActiveAt: now, ...progressOf(session, now) };
  return withNewContent(nextRecord({ info, incarnation, ...counts, ...facts }, now));
}

/**
 * Returns true when the session may be saved, and false when the store has already done this save. `known` is the
 * record with which the store returned the base of the save.
 * @throws SessionNotFoundError, SessionConflictError, SessionBusyError, RangeError `ARGUMENT_INVALID` or HoldfastError
 * `OPERATION_REUSED` when the store must refuse the save.
 */
export function requireSavable(
  record: SessionRecord,
  session: AgentSession,
  { operationId, epoch }: SaveOptions,
  { hash, known }: { readonly hash: string; readonly known: SessionRecord | undefined },
  now: Instant,
): boolean {
  requireSameFamily(record, session);
  const { sessionId, revision } = session;
  const actual = revisionOf(record);
  const isNext = actual.incarnation === revision.incarnation && actual.version === revision.version + 1;
  if (isNext && operationId !== undefined && record.operation?.id === operationId) {
    if (record.operation.hash === hash) return false;
    const message = `Operation "${operationId}" was used for another save of session "${sessionId}". Use a new operation id for each save, and the same id for its retries.`;
    throw new HoldfastError('OPERATION_REUSED', message, { data: { sessionId, operationId } });
  }
  if (epoch !== undefined && epoch !== record.epoch && actual.incarnation === revision.incarnation) {
    throw new SessionConflictError(sessionId, 'fenced', epoch, record.epoch);
  }
  if (actual.incarnation !== revision.incarnation || actual.version !== revision.version) {
    throw SessionConflictError.between(sessionId, revision, actual);
  }
  if (known && !hasSameContent(known, record)) {
    throw new SessionConflictError(sessionId, 'store-behind', revision.version, actual.version);
  }
  if (epoch === undefined) refuseClaimed(record, now);
  return true;
}

/**
 * The owner decides who may see the session, and the parent whom it wakes: neither ever changes. The first error tells
 * another owner nothing.
 */
function requireSameFamily({ info }: SessionRecord, { sessionId, owner, parentId }: AgentSession): void {
  if (info.owner !== owner) throw new SessionNotFoundError(sessionId);
  if (info.parentId !== parentId)
    throw invalidArgument(`The parent of session "${sessionId}" cannot change. Create another session.`);
}

/** Returns the items among these that wait, each once. */
export function waitingItemRefs(
  { inbox }: SessionRecord,
  names: readonly InboxItemRef[] = [],
): readonly InboxItemRef[] {
  if (inbox === undefined || names.length === 0) return [];
  const distinct = new Map(names.map((name) => [name.position, name]));
  return [...distinct.values()].filter(({ position }) => isItemWaiting(inbox, position));
}

/** Returns the record after a save. `session` is the session that the save returns. */
export function savedRecord(
  record: SessionRecord,
  session: AgentSession,
  { operationId, epoch, acknowledge, expiry }: SaveOptions,
  { hash, firstRevision }: { readonly hash: string; readonly firstRevision: number | undefined },
  now: Instant,
): SessionRecord {
  const { usedIds, lastActiveAt } = record;
  const facts = progressOf(session, now);
  const isByHolder = epoch !== undefined && record.lease !== undefined;
  const acknowledged = waitingItemRefs(record, acknowledge);
  const positions = acknowledged.map(({ position }) => position);
  const changes = {
    ...facts,
    lastActiveAt: isByHolder ? lastActiveAt : Math.max(lastActiveAt, now),
    info: session.info,
    operation: operationId === undefined ? undefined : { id: operationId, hash },
    // A save that made progress resets the attempt count. The worker's own claim is attempt 1 of the next step.
    attempt: facts.progress === record.progress ? record.attempt : isByHolder ? 1 : 0,
    failure: facts.progress === record.progress ? record.failure : undefined,
    takenUntil: undefined,
    ...withoutPositions(record, positions),
    usedIds:
      acknowledged.length > 0
        ? [...(usedIds ?? []), ...acknowledged.map(({ id }) => id)].slice(-REMEMBERED_ITEMS)
        : usedIds,
    expiry: expiry === null ? undefined : (expiry ?? record.expiry),
    firstRevision,
  };
  return withNewContent(nextRecord({ ...record, ...changes }, now));
}

/**
 * Returns the record with one more inbox item, at the position `inbox.next` of the record before; `undefined` when the
 * item is among the last used ones, or one of its name waits beyond the limit.
 * @throws InboxFullError when the inbox holds `maxItems` items, and its reserve has no place for the item.
 */
export function enqueuedRecord(
  record: SessionRecord,
  itemId: string,
  { maxItems, reserve }: InboxLimit,
  now: Instant,
): SessionRecord | undefined {
  const { inbox, usedIds, info, reserved = [] } = record;
  if (usedIds?.includes(itemId)) return undefined;
  const isFull = isInboxFull(record, maxItems);
  if (isFull) {
    if (reserved.some(({ name }) => name === reserve)) return undefined;
    if (!hasReservedPlace(reserved, reserve)) throw new InboxFullError(info.sessionId, maxItems);
  }
  const position = inbox?.next ?? 0;
  return nextRecord(
    {
      ...record,
      inbox: withItem(inbox, now),
      ...(isFull && reserve !== undefined && { reserved: [...reserved, { name: reserve, position }] }),
      failure: triedAgain(record.failure, now),
      takenUntil: undefined,
    },
    now,
  );
}

/** True when the inbox holds as many items as it may. */
export function isInboxFull({ inbox }: SessionRecord, maxItems: number): boolean {
  return waitingItemCount(inbox) >= maxItems;
}

/** A dead letter is tried once more when something comes into its inbox. */
function triedAgain(failure: WorkFailure | undefined, now: Instant): WorkFailure | undefined {
  return failure && isDeadLetter(failure) ? { ...failure, retryAt: now } : failure;
}

/** The record after work on its session failed, or, with `undefined`, after it succeeded again. */
export function failedRecord(
  record: SessionRecord,
  failed: FailedWork | undefined,
  now: Instant,
): SessionRecord {
  return nextRecord({ ...record, failure: failed && nextFailure(record.failure, failed, now) }, now);
}

/** The record after a sweep took its session; `undefined` when the session is not due as the sweep found it. */
export function takenRecord(
  record: SessionRecord,
  dueAt: Instant,
  seconds: number,
  now: Instant,
): SessionRecord | undefined {
  if (recordDueAt(record) !== dueAt || dueAt > now) return undefined;
  return nextRecord({ ...record, takenUntil: laterBy(now, seconds) }, now);
}

/**
 * Returns the record without an inbox item; `undefined` when the item does not wait, or a worker that may use it has read
 * it.
 */
export function withoutItem(
  record: SessionRecord,
  position: number,
  now: Instant,
): SessionRecord | undefined {
  const { inbox, lease } = record;
  if (inbox === undefined || !isItemWaiting(inbox, position)) return undefined;
  if (lease && position <= (lease.readTo ?? -1)) return undefined;
  return nextRecord({ ...record, ...withoutPositions(record, [position]) }, now);
}

function refuseClaimed({ info, lease }: SessionRecord, now: Instant): void {
  if (lease && lease.until > now) throw new SessionBusyError(info.sessionId, lease.workerId, lease.until);
}

export function laterBy(now: Instant, seconds: number): Instant {
  return now + Math.ceil(seconds * 1000);
}

/** Returns the record after one more write: it has a new token, and its sliding expiry starts anew. */
export function nextRecord<T extends Omit<SessionRecord, 'token' | 'contentToken'>>(
  record: T,
  now: Instant,
): T & Pick<SessionRecord, 'token'> {
  const { expiry } = record;
  const expiresAt = expiry && ('at' in expiry ? expiry.at : laterBy(now, expiry.afterSeconds));
  return Object.freeze({ ...record, writes: record.writes + 1, token: newWriteToken(), expiresAt });
}

function withNewContent(record: Omit<SessionRecord, 'contentToken'>): SessionRecord {
  return Object.freeze({ ...record, contentToken: record.token });
}

export function withActivity(record: SessionRecord, now: Instant): SessionRecord {
  return { ...record, lastActiveAt: Math.max(record.lastActiveAt, now) };
}

/** Returns the progress of a state, and when the state needs a worker. */
function progressOf(
  { state, awaitsResume }: AgentSession,
  now: Instant,
): { readonly progress: string; readonly wakeAt: Instant | undefined } {
  const { execution } = state;
  if (!execution) return { progress: '', wakeAt: undefined };
  const isOver = isTerminal(execution.status);
  // An open step is no progress: a step that kills its workers must not reset the attempt count. Eight characters of
  // the id distinguish an execution from the one before.
  const progress = `${execution.executionId.slice(-8)}/${execution.stepExecutions.length}${isOver ? '/over' : ''}`;
  if (isOver || awaitsResume) return { progress, wakeAt: undefined };
  if (execution.status !== 'suspended') return { progress, wakeAt: now };
  const moments = execution.waiting.flatMap(momentsOfWaiting);
  return { progress, wakeAt: moments.length === 0 ? undefined : Math.min(...moments) };
}
