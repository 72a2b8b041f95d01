import type { Instant } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import { isTerminal } from '../state/execution.ts';
import type { AgentSession, SessionRevision } from './session.ts';
import type { SessionInfo } from './session-info.ts';
import { SessionBusyError, SessionConflictError } from './session-errors.ts';
import type { ClaimOptions, SaveOptions, SessionClaim, SessionExpiry } from './session-store.ts';

/** What a store knows of a session without its content. Plain JSON; each write replaces all of it. */
export interface SessionRecord {
  readonly info: SessionInfo;
  /** Another one each time that a session is created. */
  readonly incarnation: string;
  /** How many writes of any kind there were. With the incarnation it names this record and no other. */
  readonly writes: number;
  /** The last save that had an operation id, when it was the last one. */
  readonly operation?: { readonly id: string; readonly content: string } | undefined;
  /** How many claims there were. */
  readonly epoch: number;
  /** Who works on it, and until when; absent after a release. */
  readonly lease?: { readonly owner: string; readonly until: Instant } | undefined;
  /** Claims since the last release or finished step. */
  readonly attempt: number;
  /** Changes when a step is finished, and when an execution begins or ends. */
  readonly progress: string;
  /** When the state itself asks for somebody: now, a moment to come, or not at all. */
  readonly wakeAt?: Instant | undefined;
  /** What waits to be used, oldest first; since when. */
  readonly inbox?: { readonly ids: readonly string[]; readonly since: Instant } | undefined;
  /** The items used last, latest last. */
  readonly used?: readonly string[] | undefined;
  readonly expiry?: SessionExpiry | undefined;
  readonly expiresAt?: Instant | undefined;
}

/** One of a session that somebody works on. */
export type ClaimedRecord = SessionRecord & { readonly lease: NonNullable<SessionRecord['lease']> };

const REMEMBERED_ITEMS = 16;

export function isExpired({ expiresAt }: SessionRecord, now: Instant): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/**
 * When somebody should look at the session: no sooner than a claim runs out, whoever has it sees to the rest; at once
 * when something is in its inbox; else when its state asks for it.
 */
export function dueAt({ info, lease, wakeAt, inbox }: SessionRecord): Instant | undefined {
  if (info.status !== 'active') return undefined;
  const wanted = inbox ? Math.min(inbox.since, wakeAt ?? inbox.since) : wakeAt;
  return lease ? Math.max(lease.until, wanted ?? lease.until) : wanted;
}

export function revisionOf({ info, incarnation }: SessionRecord): SessionRevision {
  return { incarnation, version: info.version };
}

/** The record of a session that is created. */
export function createdRecord(
  session: AgentSession,
  expiry: SessionExpiry | undefined,
  now: Instant,
): SessionRecord {
  const { info, revision } = session;
  const { incarnation } = revision;
  return written(
    { info, incarnation, writes: 0, epoch: 0, attempt: 0, expiry, ...factsOf(session, now) },
    now,
  );
}

/**
 * May the session be saved? `false` when just this save was done before.
 * @throws SessionConflictError, SessionBusyError, HoldfastError `OPERATION_REUSED` when it may not.
 */
export function maySave(
  record: SessionRecord,
  { sessionId, revision }: AgentSession,
  { operationId, epoch }: SaveOptions,
  content: string,
  now: Instant,
): boolean {
  const actual = revisionOf(record);
  const isNext = actual.incarnation === revision.incarnation && actual.version === revision.version + 1;
  if (isNext && operationId !== undefined && record.operation?.id === operationId) {
    if (record.operation.content === content) return false;
    const message = `Operation "${operationId}" has saved something else in session "${sessionId}". Use a new id for each save, the same one for its retries.`;
    throw new HoldfastError('OPERATION_REUSED', message, { data: { sessionId, operationId } });
  }
  if (epoch !== undefined && epoch !== record.epoch && actual.incarnation === revision.incarnation) {
    throw new SessionConflictError(sessionId, 'fenced', epoch, record.epoch);
  }
  if (actual.incarnation !== revision.incarnation || actual.version !== revision.version) {
    throw SessionConflictError.between(sessionId, revision, actual);
  }
  if (epoch === undefined) refuseClaimed(record, now);
  return true;
}

/** The record after a save. `session` is what the save answers. */
export function savedRecord(
  record: SessionRecord,
  session: AgentSession,
  { operationId, epoch, acknowledge = [], expiry }: SaveOptions,
  content: string,
  now: Instant,
): SessionRecord {
  const { inbox, used } = record;
  const facts = factsOf(session, now);
  // Whoever gets on may still die of what comes next: their claim is the first attempt at it.
  const isByHolder = epoch !== undefined && record.lease !== undefined;
  const taken = acknowledge.filter((id) => inbox?.ids.includes(id));
  const left = inbox?.ids.filter((id) => !taken.includes(id)) ?? [];
  const changes = {
    ...facts,
    info: session.info,
    operation: operationId === undefined ? undefined : { id: operationId, content },
    attempt: facts.progress === record.progress ? record.attempt : isByHolder ? 1 : 0,
    inbox: inbox && left.length > 0 ? { ids: left, since: inbox.since } : undefined,
    used: taken.length > 0 ? [...(used ?? []), ...taken].slice(-REMEMBERED_ITEMS) : used,
    expiry: expiry === null ? undefined : (expiry ?? record.expiry),
  };
  return written({ ...record, ...changes }, now);
}

/** The record after a claim. @throws SessionBusyError while another one lasts. */
export function claimedRecord(
  record: SessionRecord,
  { owner, leaseSeconds }: ClaimOptions,
  now: Instant,
): ClaimedRecord {
  const lease = { owner, until: laterBy(now, leaseSeconds) };
  if (record.lease?.owner === owner) return written({ ...record, lease }, now);
  refuseClaimed(record, now);
  return written({ ...record, lease, epoch: record.epoch + 1, attempt: record.attempt + 1 }, now);
}

/** The record after a claim was renewed. @throws SessionConflictError `fenced` or `recreated` when it is lost. */
export function renewedRecord(
  record: SessionRecord,
  claim: SessionClaim,
  leaseSeconds: number,
  now: Instant,
): ClaimedRecord {
  if (record.incarnation !== claim.incarnation) {
    throw new SessionConflictError(claim.sessionId, 'recreated', claim.epoch, record.epoch);
  }
  if (!isHeld(record, claim))
    throw new SessionConflictError(claim.sessionId, 'fenced', claim.epoch, record.epoch);
  return written({ ...record, lease: { owner: claim.owner, until: laterBy(now, leaseSeconds) } }, now);
}

/** The record after a release; `undefined` when the claim is not held any more. */
export function releasedRecord(
  record: SessionRecord,
  claim: SessionClaim,
  now: Instant,
): SessionRecord | undefined {
  if (!isHeld(record, claim)) return undefined;
  return written({ ...record, lease: undefined, attempt: 0 }, now);
}

/** The record with one more item in the inbox; `undefined` when it is or was there. */
export function enqueuedRecord(
  record: SessionRecord,
  itemId: string,
  now: Instant,
): SessionRecord | undefined {
  const { inbox, used } = record;
  if (inbox?.ids.includes(itemId) || used?.includes(itemId)) return undefined;
  return written(
    { ...record, inbox: { ids: [...(inbox?.ids ?? []), itemId], since: inbox?.since ?? now } },
    now,
  );
}

/** The claim that a record speaks of. */
export function claimOf({ info, incarnation, lease, epoch }: ClaimedRecord): SessionClaim {
  return Object.freeze({ sessionId: info.sessionId, incarnation, epoch, ...lease });
}

function isHeld(record: SessionRecord, { incarnation, epoch, owner }: SessionClaim): boolean {
  return record.incarnation === incarnation && record.epoch === epoch && record.lease?.owner === owner;
}

function refuseClaimed({ info, lease }: SessionRecord, now: Instant): void {
  if (lease && lease.until > now) throw new SessionBusyError(info.sessionId, lease.owner, lease.until);
}

function laterBy(now: Instant, seconds: number): Instant {
  return now + Math.ceil(seconds * 1000);
}

/** One write more, and a sliding expiry moved on. */
function written<T extends SessionRecord>(record: T, now: Instant): T {
  const { expiry } = record;
  const expiresAt = expiry && ('at' in expiry ? expiry.at : laterBy(now, expiry.afterSeconds));
  return Object.freeze({ ...record, writes: record.writes + 1, expiresAt });
}

/** How far a state is, and when it asks for somebody. */
function factsOf(
  { state }: AgentSession,
  now: Instant,
): { readonly progress: string; readonly wakeAt: Instant | undefined } {
  const { execution } = state;
  if (!execution) return { progress: '', wakeAt: undefined };
  const isOver = isTerminal(execution.status);
  // A step in progress does not count: what kills its workers must not look like getting on.
  const progress = `${execution.executionId}/${execution.stepExecutions.length}${isOver ? '/over' : ''}`;
  if (isOver) return { progress, wakeAt: undefined };
  if (execution.status !== 'suspended') return { progress, wakeAt: now };
  const moments = execution.waiting.flatMap((waiting) => (waiting.type === 'until' ? [waiting.until] : []));
  return { progress, wakeAt: moments.length === 0 ? undefined : Math.min(...moments) };
}
