import type { Instant } from '../../../clock.ts';
import { SessionBusyError, SessionConflictError, SessionSuspectError } from '../../session-errors.ts';
import type { ClaimOptions, InboxPage, RenewOptions, SessionClaim } from '../../session-claim.ts';
import type { ClaimedRecord, SessionRecord } from './session-record.ts';
import { laterBy, nextRecord, withActivity } from './session-record.ts';

/**
 * Returns the record after a claim. A record with the lease of an earlier claim is that of a suspect session: its worker
 * has died. The death counts as an attempt only when the worker worked on no other session. A repeated claim of the same
 * worker extends its lease and changes nothing else.
 * @throws SessionBusyError while the claim of another worker lasts; SessionSuspectError as `ifSuspect` demands.
 */
export function claimedRecord(
  record: SessionRecord,
  { workerId, leaseSeconds, ifSuspect = 'accept' }: ClaimOptions,
  now: Instant,
): ClaimedRecord {
  const refusal = claimRefusal(record, { workerId, ifSuspect }, now);
  if (refusal) throw refusal;
  const { lease: earlier, epoch, attempt } = record;
  const until = laterBy(now, leaseSeconds);
  if (earlier?.workerId === workerId) return nextRecord({ ...record, lease: { ...earlier, until } }, now);
  const lease = earlier && ifSuspect === 'alone' ? { workerId, until, isAlone: true } : { workerId, until };
  const isCounted = earlier === undefined || earlier.isAlone === true;
  const nextAttempt = isCounted ? attempt + 1 : Math.max(attempt, 1); // attempts count from 1
  return nextRecord(
    { ...withActivity(record, now), lease, epoch: epoch + 1, attempt: nextAttempt, takenUntil: undefined },
    now,
  );
}

/** Returns the error for a claim that must be refused. */
export function claimRefusal(
  { info: { sessionId }, lease }: SessionRecord,
  { workerId, ifSuspect }: Pick<ClaimOptions, 'workerId' | 'ifSuspect'>,
  now: Instant,
): SessionBusyError | SessionSuspectError | undefined {
  if (lease === undefined || lease.workerId === workerId) return undefined;
  if (lease.until > now) return new SessionBusyError(sessionId, lease.workerId, lease.until);
  return ifSuspect === 'refuse' ? new SessionSuspectError(sessionId) : undefined;
}

/**
 * Returns the record after a renewal of the claim.
 * @throws SessionConflictError `fenced` or `recreated` when the claim is no longer valid.
 */
export function renewedRecord(
  record: SessionRecord,
  claim: SessionClaim,
  { leaseSeconds, isShared }: Pick<RenewOptions, 'leaseSeconds' | 'isShared'>,
  now: Instant,
): ClaimedRecord {
  if (record.incarnation !== claim.incarnation) {
    throw new SessionConflictError(claim.sessionId, 'recreated', claim.epoch, record.epoch);
  }
  if (!isHeld(record, claim))
    throw new SessionConflictError(claim.sessionId, 'fenced', claim.epoch, record.epoch);
  const isAlone = !isShared && record.lease?.isAlone === true;
  const { readTo } = record.lease ?? {};
  const until = laterBy(now, leaseSeconds);
  const lease = {
    workerId: claim.workerId,
    until,
    ...(isAlone && { isAlone }),
    ...(readTo !== undefined && { readTo }),
  };
  return nextRecord({ ...record, lease }, now);
}

/** Returns the record after a release; `undefined` when the claim is no longer valid. */
export function releasedRecord(
  record: SessionRecord,
  claim: SessionClaim,
  now: Instant,
): SessionRecord | undefined {
  if (!isHeld(record, claim)) return undefined;
  return nextRecord({ ...withActivity(record, now), lease: undefined, attempt: 0 }, now);
}

/**
 * Returns the record after a worker has read inbox items. No other caller may remove them while it holds the claim.
 */
export function withItemsRead(record: ClaimedRecord, page: InboxPage): ClaimedRecord {
  const last = Math.max(...[...page.inbox, ...page.unreadable].map(({ position }) => position));
  if (last === -Infinity || last <= (record.lease.readTo ?? -1)) return record;
  return Object.freeze({ ...record, lease: { ...record.lease, readTo: last } });
}

/** Returns the claim in a record. */
export function claimOf({ info, incarnation, lease, epoch }: ClaimedRecord): SessionClaim {
  return Object.freeze({
    sessionId: info.sessionId,
    incarnation,
    epoch,
    workerId: lease.workerId,
    until: lease.until,
    ...(lease.isAlone && { isAlone: true }),
  });
}

/** Returns the claim in a record, also an expired one. */
export function leaseClaimOf(record: SessionRecord): SessionClaim | undefined {
  return record.lease && claimOf({ ...record, lease: record.lease });
}

function isHeld(record: SessionRecord, { incarnation, epoch, workerId }: SessionClaim): boolean {
  return record.incarnation === incarnation && record.epoch === epoch && record.lease?.workerId === workerId;
}
