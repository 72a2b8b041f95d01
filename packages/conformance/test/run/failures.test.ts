import { sessionStoreTests } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { answering } from '../store/broken-stores/answering.ts';
import { racing } from '../store/broken-stores/racing.ts';
import { writing } from '../store/broken-stores/writing.ts';
import { mapHarness } from '../store/map-store.ts';

const DEFECTS = { ...racing, ...answering, ...writing };

/** Returns the error with which a store fails a case. */
async function failureOf(defect: string, name: string): Promise<Error> {
  const found = sessionStoreTests(mapHarness(DEFECTS[defect])).find((one) => one.name === name);
  const [result] = await Promise.allSettled([found?.run()]);
  return result.status === 'rejected' ? result.reason : new Error('The case passes.');
}

test.each<readonly [defect: string, name: string, message: string]>([
  [
    'reports a write whose reply did not arrive as not done',
    'faults: save whose reply does not arrive is done once when it is repeated',
    `save, with the reply of request 1 of 1 lost:
  an error STORE_UNAVAILABLE with isAmbiguous false says that nothing was written:
    session.revision.version: expected 1, found 2
    session.state.context.metadata.n: expected 0, found 1`,
  ],
  [
    'reports a write whose reply did not arrive as not done',
    'faults: release whose reply does not arrive is done once when it is repeated',
    `release, with the reply of request 2 of 2 lost: an error STORE_UNAVAILABLE with isAmbiguous false says that nothing was written: due.session 2: expected 1798761660000, found 1798761600000`,
  ],
  [
    'throws the errors of its client',
    'faults: claim whose connection is cut is done once when it is repeated',
    'claim, with the connection cut before request 2 of 2: expected STORE_UNAVAILABLE or STORE_THROTTLED, found Error: ECONNRESET',
  ],
  [
    'throws the errors of its client',
    'faults: create that is throttled is done once when it is repeated',
    'create, with request 1 of 1 throttled: expected STORE_UNAVAILABLE or STORE_THROTTLED, found Error: ECONNRESET',
  ],
  [
    'treats a failed request as done',
    'faults: enqueue whose connection is cut is done once when it is repeated',
    'enqueue, with the connection cut before request 2 of 2: afterwards: [2]: expected "k", found nothing',
  ],
  [
    'writes the content before its record, in two requests',
    'faults: acknowledge whose reply does not arrive is done once when it is repeated',
    'acknowledge, with the reply of request 2 of 3 lost: the repetition: SessionConflictError: Session "session 2" is at version 2, but the write expected 1 (stale). Load the session again and repeat the change.',
  ],
  [
    'creates over an existing session',
    'faults: create whose reply does not arrive is done once when it is repeated',
    'create, with the reply of request 1 of 1 lost: the repetition of a call that was done: expected a conflict of kind exists, found "a second session"',
  ],
  [
    'compares incarnations, but not writes',
    'writes: of 30 writers that save one version, exactly one succeeds',
    'expected exactly 1 of 30 callers to succeed, found 30: callers 1, 2, 3, 4, 5, …',
  ],
  [
    'compares incarnations, but not writes',
    'reopening: a store detects that the other has saved',
    'expected a rejection with {"code":"SESSION_CONFLICT","kind":"stale"}, but the call succeeded',
  ],
  [
    'does not find the sessions of another process',
    'reopening: a session of one store is loaded by the other',
    'load by the second store: expected {"format":"holdfast/agent-session"',
  ],
  ['drops NUL', 'values: metadata under any name', 'state.context.metadata'],
])('a store that %s fails "%s" with a short message', async (defect, name, message) => {
  const failure = await failureOf(defect, name);
  expect(failure.message.slice(0, message.length)).toBe(message);
  expect(failure.message.length).toBeLessThan(700);
});
