import {
  AgentSession,
  createAgentLoop,
  describe as describeSession,
  InProcessEngine,
  MemorySessionStore,
  metadataKey,
  sendMessage,
  SessionRuntime,
  tool,
  type Hook,
  type SessionRuntimeOptions,
} from '@holdfast/core';
import { MemorySessionChannel, SessionWatcher } from '@holdfast/core/channel';
import { SessionId } from '@holdfast/core/engine';
import { BackedSessionStore, type SessionBackend } from '@holdfast/core/store';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MemoryBackend } from '../../../src/session/store/memory-session-store.ts';
import { definition, LEASE } from '../../support/owned-sessions.ts';

const asked = metadataKey<boolean>('asked');
const MISSING = { code: 'SESSION_NOT_FOUND' };

function world(options: Partial<SessionRuntimeOptions> = {}) {
  const store = new MemorySessionStore();
  const agents = { helper: createAgentLoop({ driver: scriptedDriver(...Array<string>(9).fill('Hello.')) }) };
  const runtime = new SessionRuntime({ store, agents, ...options });
  return { store, runtime, ada: runtime.for('ada'), bo: runtime.for('bo') };
}

/** A copy of a document with other facts, as somebody can write it who has seen the document. */
function forged(session: AgentSession, facts: object): AgentSession {
  return AgentSession.fromJSON(
    JSON.parse(JSON.stringify({ ...session.toJSON(), ...facts, version: 2 })) as unknown,
  );
}

describe('with the documents and the claims of another owner', () => {
  test('nobody saves a session, whichever owner the document names', async () => {
    const { store, ada, bo } = world();
    const { sessionId } = await ada.create({ definition });
    const victim = await ada.execute(sessionId, sendMessage('Hello'));
    for (const owner of ['ada', 'bo', undefined]) {
      const taken = forged(victim, { owner }).withDescription({ title: 'Mine' });
      for (const base of [undefined, victim, forged(victim, { owner })])
        await expect(bo.store.save(taken, { base })).rejects.toMatchObject(MISSING);
    }
    expect(await store.load(sessionId)).toEqual(victim);
  });

  test('nobody renews or releases a claim', async () => {
    const { store, ada, bo } = world();
    const { sessionId } = await ada.create({ definition });
    const { claim, session: base } = await ada.store.claim(sessionId, LEASE);
    const before = await store.inspect(sessionId);
    for (const stolen of [claim, { ...claim, owner: 'bo' }, { ...claim, owner: undefined }])
      for (const options of [{}, { base }]) {
        await expect(bo.store.renew(stolen, { leaseSeconds: 1, ...options })).rejects.toMatchObject(MISSING);
        expect(await bo.store.release(stolen, options)).toBe(false);
      }
    expect(await store.inspect(sessionId)).toEqual(before);
    expect(await ada.store.release(claim)).toBe(true);
  });

  test('a claim of a session without an owner names none, and no owner can add one', async () => {
    const { store, bo } = world();
    await store.create(AgentSession.create({ sessionId: 'a', definition }));
    const { claim } = await store.claim('a', LEASE);
    expect(Object.hasOwn(claim, 'owner')).toBe(false);
    await expect(bo.store.renew({ ...claim, owner: 'bo' }, LEASE)).rejects.toMatchObject(MISSING);
    await expect(store.renew({ ...claim, owner: '' }, LEASE)).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
    expect(await store.release(claim)).toBe(true);
  });
});

describe('the owner of a session does not change', () => {
  const hooks = ['afterLoad', 'afterAction', 'beforeSave'] as const;
  const changes = hooks.flatMap((hook) => [
    { hook, what: 'owner', change: { owner: 'bo' } },
    { hook, what: 'id', change: { sessionId: 'other' } },
  ]);

  test.each(changes)('by the hook $hook that changes the $what', async ({ hook, change }) => {
    let isOn = false;
    const changed = (session: AgentSession) => (isOn ? forged(session, change) : session);
    const { store, runtime, ada } = world({ hooks: { [hook]: changed } });
    await ada.create({ definition, sessionId: 'a' });
    isOn = true;
    const refusal = { code: 'ARGUMENT_INVALID', message: expect.stringContaining(hook) as string };
    for (const action of [sendMessage('Hello'), describeSession({ title: 'Mine' })])
      for (const one of [runtime, ada]) await expect(one.execute('a', action)).rejects.toMatchObject(refusal);
    expect((await store.list()).sessions).toMatchObject([{ sessionId: 'a', owner: 'ada', title: undefined }]);
  });

  test('by an action that returns the session of another owner', async () => {
    const { store, runtime } = world();
    const before = await runtime.create({ definition, sessionId: 'a', owner: 'ada' });
    const theirs = await runtime.create({ definition, sessionId: 'b', owner: 'bo' });
    for (const returned of [theirs, forged(before, { owner: 'bo' })])
      await expect(runtime.execute('a', () => returned)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect([await store.load('a'), await store.load('b')]).toEqual([before, theirs]);
  });

  test('by a hook before the creation in the runtime of one owner', async () => {
    const { store, ada, runtime } = world({
      hooks: { beforeCreate: (session) => forged(session, { owner: 'bo' }) },
    });
    await expect(ada.create({ definition })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect((await store.list()).sessions).toEqual([]);
    expect((await runtime.create({ definition, owner: 'ada' })).owner).toBe('bo'); // nobody has seen it before
  });
});

describe('the cache that owners share', () => {
  /** The number of sessions that the store has read with their content. */
  function counted() {
    const made = world();
    const read = { count: 0 };
    const { store } = made;
    const load = store.load.bind(store);
    store.load = async (id, options) => {
      const session = await load(id, options);
      if (session && session !== options?.base) read.count++;
      return session;
    };
    return { ...made, read };
  }

  test('keeps a session that another owner tries to use or delete', async () => {
    const { ada, bo, read } = counted();
    const { sessionId } = await ada.create({ definition });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => bo.delete(sessionId),
      () => bo.get(sessionId),
      () => bo.execute(sessionId, sendMessage('Hello')),
      () => bo.execute(sessionId, describeSession({ title: 'Mine' })),
      () => bo.fork(sessionId),
      () => bo.advance(sessionId),
      () => bo.executions(sessionId),
      () => bo.create({ definition, sessionId }),
    ];
    for (const act of calls) {
      await act().catch(() => undefined);
      await ada.get(sessionId);
    }
    expect(read.count).toBe(0);
    await ada.delete(sessionId);
    await expect(ada.get(sessionId)).rejects.toMatchObject(MISSING);
  });

  test('is not asked for the session of another owner, which shows in the time of a reply', async () => {
    const { ada, bo, store } = counted();
    const bases: unknown[] = [];
    for (const method of ['load', 'claim', 'executions'] as const) {
      const original = store[method].bind(store) as (...args: unknown[]) => unknown;
      const noting = (...args: unknown[]): unknown => {
        bases.push((args[1] as { readonly base?: unknown }).base);
        return original(...args);
      };
      Object.assign(store, { [method]: noting });
    }
    const { sessionId } = await ada.create({ definition });
    await bo.get(sessionId).catch(() => undefined);
    await bo.executions(sessionId).catch(() => undefined);
    await bo.execute(sessionId, sendMessage('Hello')).catch(() => undefined);
    expect(bases).toEqual([undefined, undefined, undefined]);
    await ada.get(sessionId);
    expect(bases.at(-1)).toBeDefined();
  });
});

test('a store that reads the record first reads no content for another owner', async () => {
  const backend = new MemoryBackend();
  const sound = { readSession: backend.readSession.bind(backend) };
  let contents = 0;
  const readSession: SessionBackend['readSession'] = async (sessionId, request) => {
    const found = await sound.readSession(sessionId, request);
    if (found?.content) contents++;
    return found;
  };
  const store = new BackedSessionStore(Object.assign(backend, { readSession }));
  const runtime = new SessionRuntime({ store, agents: {}, cacheBytes: 0 });
  const { sessionId } = await runtime.for('ada').create({ definition });
  const { bo, ada } = { bo: runtime.for('bo'), ada: runtime.for('ada') };
  for (const act of [bo.get(sessionId), bo.inspect(sessionId), bo.fork(sessionId, { atVersion: 1 })])
    await expect(act).rejects.toMatchObject(MISSING);
  expect(contents).toBe(0);
  await ada.get(sessionId);
  expect(contents).toBe(1);
});

describe('readers, wake-ups and engines', () => {
  test('a reader for an owner sees no session that another owner created under the same id', async () => {
    const { store, ada, bo } = world();
    const channel = new MemorySessionChannel();
    const watcher = new SessionWatcher({ store, channel });
    const first = await ada.create({ definition, sessionId: 'a' });
    const views = watcher.watch('a', { owner: 'ada' });
    const stranger = watcher.watch('a', { owner: 'bo' });
    await expect(stranger.next()).rejects.toMatchObject(MISSING);
    expect((await views.next()).value).toMatchObject({ session: first });
    await ada.delete('a');
    const theirs = await bo.create({ definition, sessionId: 'a' });
    const { incarnation } = theirs.revision;
    const change = { type: 'saved' as const, version: 1, status: 'active' as const, at: theirs.updatedAt };
    await channel.publish('a', [{ incarnation, epoch: 0, series: 0, n: 1, base: 0, change }]);
    expect(await views.next()).toEqual({ done: true, value: undefined });
    const all = watcher.watch('a');
    expect((await all.next()).value).toMatchObject({ session: theirs });
    await all.return();
  });

  test('the end of a child does not wake the session that another owner created under the id of the parent', async () => {
    const notified: string[] = [];
    const channel = new MemorySessionChannel();
    channel.notify = async (sessionId) => void notified.push(sessionId);
    const { store, runtime, ada, bo } = world({ channel });
    await ada.create({ definition, sessionId: 'parent' });
    await ada.create({ definition, sessionId: 'kid', parentId: 'parent' });
    await ada.delete('parent');
    await bo.create({ definition, sessionId: 'parent' });
    const before = await store.inspect('parent');
    await ada.enqueue('kid', { type: 'message', content: 'Hello' });
    notified.length = 0;
    expect(await runtime.advance('kid')).toMatchObject({ outcome: { type: 'finished' }, wake: [] });
    expect([await store.inspect('parent'), notified]).toEqual([before, []]);
  });

  test.each([
    ['theirs', 'completed'],
    ['none', 'completed'],
    ['mine', 'suspended'],
  ])('an execution that waits for the session %s is %s', async (sessionId, status) => {
    const waiting = [{ type: 'child', sessionId: SessionId.parse(sessionId) } as const];
    const suspend: Hook = {
      afterStep: (state, { clock }) =>
        state.metadata.get(asked)
          ? undefined
          : state.withMetadata(asked, true).withExecutionStatus('suspended', clock.now(), waiting),
    };
    const driver = scriptedDriver({ calls: { note: {} } }, 'Done.');
    const note = tool({ name: 'note', description: 'Notes.', inputSchema: z.object({}), execute: () => 1 });
    const agents = { helper: createAgentLoop({ driver, tools: [note], hooks: [suspend] }) };
    const { ada, bo } = world({ agents });
    await bo.create({ definition, sessionId: 'theirs' });
    await ada.create({ definition, sessionId: 'mine' });
    await ada.create({ definition, sessionId: 'own' });
    expect((await ada.execute('own', sendMessage('Hello'))).state.status).toBe(status);
  });

  test('an engine that serves the runtime of one owner reports the sessions of others', async () => {
    const { store, runtime, ada, bo } = world();
    const { sessionId } = await bo.create({ definition });
    await bo.enqueue(sessionId, { type: 'message', content: 'Hello' });
    const engine = new InProcessEngine();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const worker = await engine.serve((id, options) => ada.advance(id, options), {
      onError: (error, id) => resolve([id, error]),
    });
    await engine.wake(sessionId);
    expect(await promise).toEqual([sessionId, expect.objectContaining(MISSING)]);
    await worker.stop();
    expect((await store.due()).sessions).toMatchObject([{ sessionId }]);
    expect(await runtime.advance('none')).toEqual({
      outcome: { type: 'finished' },
      wake: [],
      isMissing: true,
    });
  });
});
