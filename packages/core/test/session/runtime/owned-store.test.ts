import {
  AgentSession,
  createAgentLoop,
  InProcessEngine,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type SessionDirectory,
  type SessionStore,
} from '@holdfast/core';
import { PollingEngine, sweep } from '@holdfast/core/engine';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { definition, LEASE } from '../../support/owned-sessions.ts';

const FAILED = { error: { name: 'Error', message: 'No.' }, delaysSeconds: [5] };
const sessionOf = (sessionId: string, owner?: string): AgentSession =>
  AgentSession.create({ sessionId, definition, owner, at: 1_000 });

type Call = (store: SessionStore, sessionId: string) => Promise<unknown>;

/** The calls for one session: that of another owner is like one that does not exist. */
const SCOPED: Readonly<Record<string, Call>> = {
  load: (store, id) => store.load(id),
  save: async (store, id) => store.save(sessionOf(id, id === 'mine' ? 'ada' : 'bo')),
  claim: (store, id) => store.claim(id, LEASE),
  enqueue: (store, id) => store.enqueue(id, { id: 'j', content: 1 }),
  removeItem: (store, id) => store.removeItem(id, 'i'),
  recordFailure: (store, id) => store.recordFailure(id, FAILED),
  exists: (store, id) => store.exists(id),
  inspect: (store, id) => store.inspect(id),
  executions: (store, id) => store.executions(id),
  revisions: (store, id) => store.revisions(id),
  loadRevision: (store, id) => store.loadRevision(id, 1),
  delete: (store, id) => store.delete(id),
};

/** The calls of the directory, which concern the sessions of all owners. */
const OF_ALL = [
  'due',
  'takeDue',
  'announce',
  'workers',
  'prune',
  'close',
] satisfies (keyof SessionDirectory)[];

/** The calls with tests of their own: their arguments name an owner, or prove a claim. */
const OTHERS = ['create', 'list', 'renew', 'release'];

/** The result or the error of a call, without the id of its session. */
async function outcomeOf(call: Promise<unknown>, sessionId: string): Promise<unknown> {
  try {
    return { value: await call };
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return { code, message: message.replaceAll(sessionId, 'ID') };
  }
}

const allOf = async (store: SessionStore): Promise<unknown> => ({
  listed: await store.list(),
  inspected: await Promise.all(['mine', 'theirs', 'nobodys'].map((id) => store.inspect(id))),
});

describe('the store of one owner', () => {
  const clock = manualClock(1_000);
  let store: MemorySessionStore;
  let owned: SessionStore;

  beforeEach(async () => {
    store = new MemorySessionStore({ clock });
    owned = new SessionRuntime({ store, agents: {} }).for('ada').store;
    for (const [id, owner] of [
      ['mine', 'ada'],
      ['theirs', 'bo'],
      ['nobodys', undefined],
    ] as const) {
      await store.create(sessionOf(id, owner));
      await store.enqueue(id, { id: 'i', content: 1 });
    }
  });

  test('has each method of a session store, and each is tested here; it has no directory', () => {
    const methods = new Set<string>();
    for (let type: object = store; type !== Object.prototype; type = Object.getPrototypeOf(type) as object)
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type)))
        if (typeof value === 'function' && name !== 'constructor') methods.add(name);
    const known = [...Object.keys(SCOPED), ...OTHERS].toSorted();
    expect([...known, ...OF_ALL].toSorted()).toEqual([...methods].toSorted());
    const own = Object.entries(owned).filter(([, value]) => typeof value === 'function');
    expect(own.map(([name]) => name).toSorted()).toEqual(known);
    expect(owned.capabilities).toBe(store.capabilities);
  });

  test.each(Object.entries(SCOPED))('%s finds no session of another owner', async (_, call) => {
    const before = await allOf(store);
    const missing = await outcomeOf(call(owned, 'none'), 'none');
    for (const id of ['theirs', 'nobodys']) expect(await outcomeOf(call(owned, id), id)).toEqual(missing);
    expect(await allOf(store)).toEqual(before);
    expect(await outcomeOf(call(owned, 'mine'), 'mine')).not.toEqual(missing);
  });

  test('is no directory: a sweep and an engine that polls refuse it', async () => {
    const refusal = {
      code: 'ARGUMENT_INVALID',
      message: expect.stringContaining(
        'must be a session store of all owners, with due() and takeDue()',
      ) as string,
    };
    // @ts-expect-error -- a `SessionStore` is no `SessionDirectory`
    await expect(sweep(owned, new InProcessEngine())).rejects.toMatchObject(refusal);
    // @ts-expect-error -- likewise
    expect(() => new PollingEngine({ store: owned })).toThrow(expect.objectContaining(refusal));
  });

  test('creates sessions of this owner only', async () => {
    expect((await owned.create(sessionOf('new', 'ada'))).version).toBe(1);
    for (const owner of ['bo', undefined, 'Ada'])
      await expect(owned.create(sessionOf('other', owner))).rejects.toMatchObject({
        code: 'ARGUMENT_INVALID',
      });
    expect(await store.exists('other')).toBe(false);
  });

  test('creates no child of a session of another owner', async () => {
    const childOf = (parentId: string): AgentSession =>
      AgentSession.create({ sessionId: `of ${parentId}`, definition, owner: 'ada', parentId });
    for (const parentId of ['theirs', 'nobodys', 'none'])
      await expect(owned.create(childOf(parentId))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await owned.create(childOf('mine'))).parentId).toBe('mine');
  });

  test('lists the sessions of this owner only', async () => {
    const idsOf = async (query?: object): Promise<string[]> =>
      (await owned.list(query)).sessions.map(({ sessionId }) => sessionId);
    expect([await idsOf(), await idsOf({ owner: 'ada' }), await idsOf({ owner: 'bo' })]).toEqual([
      ['mine'],
      ['mine'],
      [],
    ]);
    expect(await idsOf({ owner: undefined })).toEqual(['mine']);
    await expect(owned.list({ limit: 0 })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  });

  test('renews and releases a claim of its own', async () => {
    const { claim } = await owned.claim('mine', LEASE);
    expect((await owned.renew(claim, { leaseSeconds: 60 })).claim.until).toBe(61_000);
    expect(await owned.release(claim)).toBe(true);
  });
});

describe('the runtime of one owner', () => {
  const runtimeWith = (...script: string[]) => {
    const store = new MemorySessionStore();
    const agents = { helper: createAgentLoop({ driver: scriptedDriver(...script) }) };
    return new SessionRuntime({ store, agents });
  };
  const missing = { code: 'SESSION_NOT_FOUND' };

  test('creates and forks sessions of this owner', async () => {
    const ada = runtimeWith('Hello Ada.').for('ada');
    const { sessionId, owner } = await ada.create({ definition, title: 'First', labels: { a: 'b' } });
    await ada.execute(sessionId, sendMessage('Hello'));
    const copy = await ada.fork(sessionId);
    expect([owner, copy.owner, copy.title, copy.labels]).toEqual(['ada', 'ada', 'First', { a: 'b' }]);
    expect(copy.totals.executions).toBe(0);
    expect((await ada.list()).sessions).toHaveLength(2);
    await expect(ada.create({ definition, owner: 'bo' })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect((await ada.create({ definition, owner: 'ada' })).owner).toBe('ada');
  });

  test('does not find the session of another owner, which is in the cache that both share', async () => {
    const runtime = runtimeWith('Hello Ada.');
    const [ada, bo] = [runtime.for('ada'), runtime.for('bo')];
    const { sessionId } = await ada.create({ definition });
    const session = await ada.execute(sessionId, sendMessage('Hello'));
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      get: () => bo.get(sessionId),
      info: () => bo.info(sessionId),
      inspect: () => bo.inspect(sessionId),
      executions: () => bo.executions(sessionId),
      revisions: () => bo.revisions(sessionId),
      removeItem: () => bo.removeItem(sessionId, 'i'),
      execute: () => bo.execute(sessionId, sendMessage('Hello')),
      enqueue: () => bo.enqueue(sessionId, { type: 'message', content: 'Hello' }),
      fork: () => bo.fork(sessionId),
      'fork at a version': () => bo.fork(sessionId, { atVersion: 1 }),
      'create a child': () => bo.create({ definition, parentId: sessionId }),
    };
    for (const [name, act] of Object.entries(calls))
      expect([name, await act().catch((error: unknown) => error)]).toMatchObject([name, missing]);
    expect(await bo.advance(sessionId)).toMatchObject({ isMissing: true, error: missing });
    expect(await bo.delete(sessionId)).toBe(false);
    expect(await ada.get(sessionId)).toEqual(session);
    expect(await runtime.get(sessionId)).toEqual(session);
  });

  test('tells that an id is taken, and nothing more', async () => {
    const runtime = runtimeWith();
    await runtime.for('ada').create({ definition, sessionId: 'trip' });
    await expect(runtime.for('bo').create({ definition, sessionId: 'trip' })).rejects.toMatchObject({
      code: 'SESSION_CONFLICT',
      kind: 'exists',
    });
  });

  test('is that of the same owner again, and never that of another', () => {
    const runtime = runtimeWith();
    const ada = runtime.for('ada');
    expect(ada.for('ada').store).toBe(ada.store);
    for (const wrong of ['bo', '', '\ud800', 7 as never])
      expect(() => ada.for(wrong)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
    expect(runtime.store).not.toBe(ada.store);
  });

  test.each([null, { owner: 5 }, { owner: 'bob', limit: -1 }])(
    'refuses the invalid query %j',
    async (query) => {
      const listed = runtimeWith()
        .for('ada')
        .list(query as never);
      await expect(listed).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    },
  );
});
