import type { Instant } from '../../../clock.ts';
import { compact } from '../../../json.ts';
import {
  SessionBusyError,
  SessionConflictError,
  SessionNotFoundError,
  SessionSuspectError,
} from '../../session-errors.ts';
import type {
  ClaimOptions,
  InboxPage,
  ReleaseOptions,
  RenewOptions,
  SessionClaim,
} from '../../session-claim.ts';
import {
  laterBy,
  nextRecord,
  withActivity,
  type ClaimedRecord,
  type SessionRecord,
} from './session-record.ts';

/**
 * Returns the record after a claim. A record with the lease of an earlier claim is that of a suspect session: its worker
 * has died. The death counts as an attempt only when the worker worked on no other session. A session that was released
 * as a suspect one has counted its attempt already. A repeated claim of the same worker extends its lease and changes
 * nothing else.
 * @throws SessionBusyError while the claim of another worker lasts; SessionSuspectError as `ifSuspect` demands.
 */
export function claimedRecord(
  record: SessionRecord,
  { workerId, leaseSeconds, ifSuspect = 'accept' }: ClaimOptions,
  now: Instant,
): ClaimedRecord {
  const refusal = claimRefusal(record, { workerId, ifSuspect }, now);
  if (refusal) throw refusal;
  const { lease: earlier, epoch, attempt, isSuspect } = record;
  const until = laterBy(now, leaseSeconds);
  if (earlier?.workerId === workerId) return nextRecord({ ...record, lease: { ...earlier, until } }, now);
  const isAlone = (earlier !== undefined || isSuspect) && ifSuspect === 'alone';
  const lease = { workerId, until, ...(isAlone && { isAlone }) };
  const isCounted = earlier ? earlier.isAlone === true : !isSuspect;
  const nextAttempt = isCounted ? attempt + 1 : Math.max(attempt, 1); // attempts count from 1
  const claimed = { lease, epoch: epoch + 1, attempt: nextAttempt };
  const cleared = { isSuspect: undefined, takenUntil: undefined };
  return nextRecord({ ...withActivity(record, now), ...claimed, ...cleared }, now);
}

/** Returns the error for a claim that must be refused. */
export function claimRefusal(
  { info: { sessionId }, lease, isSuspect }: SessionRecord,
  { workerId, ifSuspect }: Pick<ClaimOptions, 'workerId' | 'ifSuspect'>,
  now: Instant,
): SessionBusyError | SessionSuspectError | undefined {
  if (lease?.workerId === workerId) return undefined;
  if (lease && lease.until > now) return new SessionBusyError(sessionId, lease.workerId, lease.until);
  return ifSuspect === 'refuse' && (lease ?? isSuspect) ? new SessionSuspectError(sessionId) : undefined;
}

/**
 * Returns the record after a renewal of the claim. A worker that stood still makes the session suspect. As after its
 * death, that counts as an attempt only when the worker works on no other session.
 * @throws SessionNotFoundError when the claim names another owner; SessionConflictError `fenced` or `recreated` when the
 * claim is no longer valid.
 */
export function renewedRecord(
  record: SessionRecord,
  claim: SessionClaim,
  { leaseSeconds, isShared, isSuspect }: Pick<RenewOptions, 'leaseSeconds' | 'isShared' | 'isSuspect'>,
  now: Instant,
): ClaimedRecord {
  if (record.info.owner !== claim.owner) throw new SessionNotFoundError(claim.sessionId);
  if (record.incarnation !== claim.incarnation) {
    throw new SessionConflictError(claim.sessionId, 'recreated', claim.epoch, record.epoch);
  }
  if (!isHeld(record, claim))
    throw new SessionConflictError(claim.sessionId, 'fenced', claim.epoch, record.epoch);
  const { isAlone, readTo } = record.lease ?? {};
  const until = laterBy(now, leaseSeconds);
  const { workerId } = claim;
  const lease = compact({ workerId, until, isAlone: (!isShared && isAlone) || undefined, readTo });
  return nextRecord({ ...(isSuspect ? suspectRecord(record) : record), lease }, now);
}

/**
 * Returns the record after a release; `undefined` when the claim is no longer valid. Only a session that is not suspect
 * loses its attempts.
 */
export function releasedRecord(
  record: SessionRecord,
  claim: SessionClaim,
  { isSuspect }: Pick<ReleaseOptions, 'isSuspect'>,
  now: Instant,
): SessionRecord | undefined {
  if (!isHeld(record, claim)) return undefined;
  const released = isSuspect ? suspectRecord(record) : record;
  const attempt = released.isSuspect ? released.attempt : 0;
  return nextRecord({ ...withActivity(released, now), lease: undefined, attempt }, now);
}

/** The record of a claimed session whose worker stood still. */
function suspectRecord(record: SessionRecord): SessionRecord {
  const { attempt, lease } = record;
  return { ...record, isSuspect: true, attempt: lease?.isAlone ? attempt + 1 : attempt };
}

/**
 * Returns the record after a worker has read inbox items. No other caller may remove them while it holds the claim.
 */
export function withItemsRead(record: ClaimedRecord, page: InboxPage): ClaimedRecord {
  const last = Math.max(...[...page.inbox, ...page.unreadable].map(({ position }) => position));
  if (last === -Infinity || last <= (record.lease.readTo ?? -1)) return record;
  return Object.freeze({ ...record, lease: { ...record.lease, readTo: last } });
}

export function claimOf({ info, incarnation, lease, epoch }: ClaimedRecord): SessionClaim {
  const { sessionId, owner } = info;
  const { workerId, until, isAlone } = lease;
  return compact({ sessionId, incarnation, owner, epoch, workerId, until, isAlone: isAlone || undefined });
}

/** Returns the claim in a record, also an expired one. */
export function leaseClaimOf(record: SessionRecord): SessionClaim | undefined {
  return record.lease && claimOf({ ...record, lease: record.lease });
}

function isHeld(record: SessionRecord, { incarnation, owner, epoch, workerId }: SessionClaim): boolean {
  const isSameSession = record.incarnation === incarnation && record.info.owner === owner;
  return isSameSession && record.epoch === epoch && record.lease?.workerId === workerId;
}
