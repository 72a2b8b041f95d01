import {
  AgentSession,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  createAgentLoop,
  type SessionStore,
} from '@holdfast/core';
import { BackedSessionStore } from '@holdfast/core/store';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

/** Arguments as callers without types may pass them. */
type Given = never;
type Call = (store: MemorySessionStore, given: Given) => unknown;

const misuse = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
const newSession = (sessionId = 'a'): AgentSession =>
  AgentSession.create({ definition: { name: 'helper' }, sessionId });
const ID = '00000000-0000-4000-8000-000000000000';
const claim = { sessionId: 'a', incarnation: ID, workerId: 'Ada', epoch: 1, until: 0 };

async function stored(store: SessionStore): Promise<AgentSession> {
  const session = await store.create(newSession());
  await store.enqueue('a', { id: 'i', content: 'Hello' });
  return session;
}

async function refusalOf(
  given: unknown,
  call: Call,
): Promise<{ readonly error: Error; readonly isChanged: boolean }> {
  const store = new MemorySessionStore();
  await stored(store);
  const before = JSON.stringify(await store.load('a'));
  const error = await Promise.resolve(call(store, given as Given)).then(
    () => expect.unreachable(`accepted ${JSON.stringify(given)}`),
    (reason: Error) => reason,
  );
  return { error, isChanged: JSON.stringify(await store.load('a')) !== before };
}

const save: Call = async (store, options) => store.save((await store.load('a')) as AgentSession, options);
const claimIt: Call = (store, options: object) =>
  store.claim('a', { workerId: 'Ada', leaseSeconds: 60, ...options });
const fail: Call = (store, failed) => store.recordFailure('a', failed);
const error = { name: 'Error', message: 'No.' };
const renew: Call = (store, options: object) => store.renew(claim, { leaseSeconds: 60, ...options });

describe('a store writes nothing', () => {
  test.each<readonly [string, unknown, Call]>([
    ...[7, null, {}].map((operationId) => ['save', { operationId }, save] as const),
    ['save', { operationID: 'o' }, save],
    ...[1.5, '1', null, {}].map((epoch) => ['save', { epoch }, save] as const),
    ...[
      {},
      [{ position: 0 }],
      [{ position: 0, id: 7 }],
      [{ position: -1, id: 'i' }],
      [{ id: 'i' }],
      [null],
      'i',
    ].map((acknowledge) => ['save', { acknowledge }, save] as const),
    ['save', { base: {} }, save],
    ['save', { expiry: { afterSeconds: 5, at: 5 } }, save],
    ['save', { expiry: { afterSeconds: 5, slide: true } }, save],
    ['save', { expiry: false }, save],
    ['save', { expiry: 0 }, save],
    ['save', null, save],
    ['claim', { workerID: 'Ada' }, claimIt],
    ['claim', { base: 'a' }, claimIt],
    ['claim', null, (store, options) => store.claim('a', options)],
    ['renew', { from: 1 }, renew],
    ['renew', { after: '1' }, renew],
    ['renew', { base: {} }, renew],
    ['renew', null, (store, options) => store.renew(claim, options)],
    ['renew, the claim', null, (store, given) => store.renew(given, { leaseSeconds: 60 })],
    ['renew, the claim', { claim }, (store, given) => store.renew(given, { leaseSeconds: 60 })],
    ['recordFailure', null, fail],
    ['recordFailure', { error }, fail],
    ['recordFailure', { error: 'No.', delaysSeconds: [1] }, fail],
    ...[[Number.NaN], [-1], ['1'], [Infinity], 5].map(
      (delaysSeconds) => ['recordFailure', { error, delaysSeconds }, fail] as const,
    ),
    ['recordFailure, the id', 7, (store, id) => store.recordFailure(id, undefined)],
    ['takeDue', { sessionId: 'a' }, (store, due) => store.takeDue(due, 60)],
    ['takeDue', null, (store, due) => store.takeDue(due, 60)],
    [
      'takeDue, the seconds',
      Number.NaN,
      (store, seconds) => store.takeDue({ sessionId: 'a', dueAt: 0 }, seconds),
    ],
    ['release', { onlyIfIdle: 1 }, (store, options) => store.release(claim, options)],
    ['release', { ifIdle: true }, (store, options) => store.release(claim, options)],
    ['release', null, (store, options) => store.release(claim, options)],
    ['release, the claim', null, (store, given) => store.release(given)],
    ['load', { bace: 1 }, (store, options) => store.load('a', options)],
    ['load', { base: 1 }, (store, options) => store.load('a', options)],
    ['load', null, (store, options) => store.load('a', options)],
    ['load, the id', null, (store, id) => store.load(id)],
    ['exists, the id', 7, (store, id) => store.exists(id)],
    ['delete, the id', undefined, (store, id) => store.delete(id)],
    ['delete', { revision: {} }, (store, options) => store.delete('a', options)],
    ['delete', null, (store, options) => store.delete('a', options)],
    ['enqueue', { id: 'j', content: 1, type: 'message' }, (store, item) => store.enqueue('a', item)],
    ['enqueue', null, (store, item) => store.enqueue('a', item)],
    ['enqueue', 'Hello', (store, item) => store.enqueue('a', item)],
    ['create, the session', {}, (store, given) => store.create(given)],
    ['create, the session', null, (store, given) => store.create(given)],
    ['save, the session', { ...newSession() }, (store, given) => store.save(given)],
    ['save, the session', null, (store, given) => store.save(given)],
  ])('for an invalid option: %s %j', async (_, given, call) => {
    expect(await refusalOf(given, call)).toEqual({ error: misuse, isChanged: false });
  });
});

test('a session instead of a session id is refused with advice', async () => {
  const session = newSession();
  const call: Call = (store) => store.load(session as never);
  expect((await refusalOf(session, call)).error.message).toContain('pass session.sessionId');
  const loop = createAgentLoop({ driver: scriptedDriver() });
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { helper: loop } });
  await expect(runtime.execute(session as never, sendMessage('Hi.'))).rejects.toThrow(
    'pass session.sessionId',
  );
});

test('a store refuses an object that is not a backend', () => {
  for (const backend of [null, {}, new MemorySessionStore()])
    expect(() => new BackedSessionStore(backend as never)).toThrow(misuse);
});

describe('an acknowledged item', () => {
  test('with the id of another item is refused, and no id is used twice', async () => {
    const store = new MemorySessionStore();
    const base = await stored(store);
    const other = store.save(base, { acknowledge: [{ id: 'other', position: 0 }] });
    await expect(other).rejects.toThrow('has the id "i", not "other"');
    await expect(store.enqueue('a', { id: 'other', content: 1 })).resolves.toBe(true);
    await store.save(base, {
      acknowledge: [
        { id: 'i', position: 0 },
        { id: 'i', position: 0 },
      ],
    });
    await expect(store.enqueue('a', { id: 'i', content: 1 })).resolves.toBe(false);
  });

  test('from a claim is not read again', async () => {
    const store = new MemorySessionStore();
    await stored(store);
    const { session, claim: held, inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    const saved = await store.save(session, { epoch: held.epoch, acknowledge: inbox });
    expect(saved.version).toBe(2);
  });

  test('of another session is refused at a position where another item waits', async () => {
    const store = new MemorySessionStore();
    const base = await stored(store);
    await store.create(newSession('b'));
    await store.enqueue('b', { id: 'of b', content: 1 });
    const { inbox } = await store.claim('b', { workerId: 'Ada', leaseSeconds: 60 });
    await expect(store.save(base, { acknowledge: inbox })).rejects.toEqual(misuse);
  });
});

describe('a clock is refused when it', () => {
  const clock = steppedClock();
  test.each([
    ['returns a Date', { ...clock, now: () => new Date(0) }],
    ['returns fractions', { ...clock, now: () => 0.5 }],
    ['returns undefined', { ...clock, now: () => undefined }],
    ['creates ids that are numbers', { ...clock, newId: () => 7 }],
    ['creates ids that are not UUIDs', { ...clock, newId: () => 'a' }],
  ])('%s', async (_, wrong) => {
    const store = new MemorySessionStore({ clock: wrong as never });
    await expect(store.create(newSession())).rejects.toEqual(misuse);
  });
});
