import { AgentSession, StateFormatError } from '@holdfast/core';
import type { InboxItem, InboxPage, SessionClaim } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import {
  claimedRecord,
  claimOf,
  leaseClaimOf,
  releasedRecord,
  renewedRecord,
  withItemsRead,
} from '../../../../src/session/store/record/claim-record.ts';
import {
  createdRecord,
  enqueuedRecord,
  withoutItem,
  type ClaimedRecord,
  type SessionRecord,
} from '../../../../src/session/store/record/session-record.ts';
import { readSessionRecord } from '../../../../src/session/store/record/read-session-record.ts';

const NOW = 1_000_000;
const ada = { workerId: 'Ada', leaseSeconds: 30 };
const bo = { workerId: 'Bo', leaseSeconds: 30 };

/** The record of a session whose inbox holds so many items. */
function recordWith(items: number): SessionRecord {
  const session = AgentSession.create({ definition: { name: 'helper' }, at: NOW });
  const created = session.withRevision({ incarnation: 'i', version: 1 }, NOW);
  let record = createdRecord(created, { expiry: undefined, firstRevision: undefined }, NOW);
  for (let index = 0; index < items; index++)
    record = enqueuedRecord(record, `item ${index}`, { maxItems: 100 }, NOW) ?? record;
  return record;
}

/** A page with the readable and the unreadable items at these positions. */
function pageOf(readable: readonly number[], unreadable: readonly number[] = []): InboxPage {
  const error = new StateFormatError('$', 'an item', 'nothing', {});
  return {
    inbox: readable.map((position): InboxItem => ({
      id: `item ${position}`,
      position,
      content: 1,
      enqueuedAt: NOW,
    })),
    unreadable: unreadable.map((position) => ({ position, error })),
  };
}

const removable = (record: SessionRecord, count = 3): number[] =>
  Array.from({ length: count }, (_, position) => position).filter(
    (position) => withoutItem(record, position, NOW) !== undefined,
  );
const claimFor = (record: ClaimedRecord): SessionClaim => claimOf(record);

describe('the items that a worker has read', () => {
  test('are those to the last position of its pages, readable or not', () => {
    const claimed = claimedRecord(recordWith(3), ada, NOW);
    expect([claimed.lease.readTo, removable(claimed)]).toEqual([undefined, [0, 1, 2]]);
    expect(withItemsRead(claimed, pageOf([]))).toBe(claimed);
    const read = withItemsRead(claimed, pageOf([0], [1]));
    expect([read.lease.readTo, removable(read)]).toEqual([1, [2]]);
    expect(Object.isFrozen(read)).toBe(true);
  });

  test('never become fewer while the claim lasts', () => {
    const read = withItemsRead(claimedRecord(recordWith(3), ada, NOW), pageOf([0, 1]));
    expect(withItemsRead(read, pageOf([0]))).toBe(read);
    const renewed = renewedRecord(read, claimFor(read), { leaseSeconds: 60 }, NOW + 1);
    expect([renewed.lease.readTo, renewed.lease.until, removable(renewed)]).toEqual([1, NOW + 60_001, [2]]);
    expect(withItemsRead(renewed, pageOf([2])).lease.readTo).toBe(2);
    const repeated = claimedRecord(read, ada, NOW + 1);
    expect([repeated.lease.readTo, repeated.epoch]).toEqual([1, read.epoch]);
  });

  test('are free again after a release, and after the claim of another worker', () => {
    const read = withItemsRead(claimedRecord(recordWith(3), ada, NOW), pageOf([0, 1, 2]));
    expect(removable(read)).toEqual([]);
    const released = releasedRecord(read, claimFor(read), {}, NOW + 1);
    expect(released && [released.lease, removable(released)]).toEqual([undefined, [0, 1, 2]]);
    const taken = claimedRecord(read, bo, NOW + 30_000);
    expect([taken.lease.readTo, removable(taken)]).toEqual([undefined, [0, 1, 2]]);
  });

  test('stay read when the lease has expired, because its worker can still renew it', () => {
    const read = withItemsRead(claimedRecord(recordWith(1), ada, NOW), pageOf([0]));
    expect(withoutItem(read, 0, NOW + 60_000)).toBeUndefined();
    const renewed = renewedRecord(read, claimFor(read), { leaseSeconds: 30 }, NOW + 60_000);
    expect(renewed.lease.readTo).toBe(0);
  });
});

test('the claim in a record is shown until it is released, also when it has expired', () => {
  const record = recordWith(0);
  expect(leaseClaimOf(record)).toBeUndefined();
  const claimed = claimedRecord(record, ada, NOW);
  expect(leaseClaimOf(claimed)).toEqual(claimFor(claimed));
  expect(claimFor(claimed)).toEqual({
    sessionId: record.info.sessionId,
    incarnation: 'i',
    epoch: 1,
    workerId: 'Ada',
    until: NOW + 30_000,
  });
  const alone = claimedRecord(claimed, { ...bo, ifSuspect: 'alone' }, NOW + 30_000);
  expect(claimFor(alone)).toMatchObject({ workerId: 'Bo', epoch: 2, isAlone: true });
});

test('a claim counts as an attempt when the worker before died alone, or when it is the first', () => {
  const first = claimedRecord(recordWith(0), ada, NOW);
  const shared = claimedRecord(first, bo, NOW + 30_000);
  const alone = claimedRecord(first, { ...bo, ifSuspect: 'alone' }, NOW + 30_000);
  const next = claimedRecord(alone, ada, NOW + 60_000);
  expect([first, shared, alone, next].map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2]);
  const free = renewedRecord(alone, claimFor(alone), { leaseSeconds: 30, isShared: true }, NOW + 31_000);
  expect(claimedRecord(free, ada, NOW + 61_000).attempt).toBe(1);
});

describe('a worker that stood still', () => {
  const released = (record: ClaimedRecord, isSuspect?: boolean): SessionRecord =>
    releasedRecord(record, claimFor(record), { isSuspect }, NOW + 1) ?? record;
  const stoodStill = (record: ClaimedRecord): ClaimedRecord =>
    renewedRecord(record, claimFor(record), { leaseSeconds: 30, isSuspect: true }, NOW);
  const refusing = { ...bo, ifSuspect: 'refuse' } as const;
  const alone = { ...bo, ifSuspect: 'alone' } as const;
  const suspect = expect.objectContaining({ code: 'SESSION_SUSPECT' });

  test.each(['renewal', 'release'])('leaves a suspect session, told at a %s', (when) => {
    const claimed = claimedRecord(recordWith(0), ada, NOW);
    const left = when === 'renewal' ? released(stoodStill(claimed)) : released(claimed, true);
    expect([left.lease, left.attempt, left.isSuspect]).toEqual([undefined, 1, true]);
    expect(readSessionRecord(JSON.parse(JSON.stringify(left)))).toMatchObject({ isSuspect: true });
    expect(() => claimedRecord(left, refusing, NOW + 2)).toThrow(suspect);
    const next = claimedRecord(left, alone, NOW + 2);
    expect([next.lease.isAlone, next.attempt, next.isSuspect]).toEqual([true, 1, undefined]);
    expect(released(next)).toMatchObject({ attempt: 0, isSuspect: undefined });
    expect(claimedRecord(left, bo, NOW + 2).lease.isAlone).toBeUndefined();
  });

  test('counts as an attempt when the worker was alone', () => {
    const first = released(claimedRecord(recordWith(0), ada, NOW), true);
    const second = released(claimedRecord(first, alone, NOW + 2), true);
    const third = claimedRecord(second, alone, NOW + 2);
    expect([first.attempt, second.attempt, third.attempt]).toEqual([1, 2, 2]);
    const shared = renewedRecord(third, claimFor(third), { leaseSeconds: 30, isShared: true }, NOW);
    expect(released(shared, true).attempt).toBe(2);
    const died = claimedRecord(stoodStill(third), ada, NOW + 90_000);
    expect(died.attempt).toBe(4); // stood still, and then died
  });

  test('is refused a session of another worker as before', () => {
    const claimed = stoodStill(claimedRecord(recordWith(0), ada, NOW));
    expect(() => claimedRecord(claimed, refusing, NOW + 2)).toThrow(
      expect.objectContaining({ code: 'SESSION_BUSY' }),
    );
  });
});

test('a claim is refused while another lasts, and a renewal when it is no longer valid', () => {
  const claimed = claimedRecord(recordWith(0), ada, NOW);
  expect(() => claimedRecord(claimed, bo, NOW + 29_999)).toThrow(
    expect.objectContaining({ code: 'SESSION_BUSY' }),
  );
  expect(() => claimedRecord(claimed, { ...bo, ifSuspect: 'refuse' }, NOW + 30_000)).toThrow(
    expect.objectContaining({ code: 'SESSION_SUSPECT' }),
  );
  const taken = claimedRecord(claimed, bo, NOW + 30_000);
  const renew = (claim: SessionClaim) => () => renewedRecord(taken, claim, { leaseSeconds: 30 }, NOW);
  expect(renew(claimFor(claimed))).toThrow(expect.objectContaining({ kind: 'fenced' }));
  expect(renew({ ...claimFor(taken), incarnation: 'j' })).toThrow(
    expect.objectContaining({ kind: 'recreated' }),
  );
  expect(releasedRecord(taken, claimFor(claimed), {}, NOW)).toBeUndefined();
});
