import assert from 'node:assert/strict';
import {
  AgentSession,
  createAgentLoop,
  describe as describeSession,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type SessionStore,
} from '@holdfast/core';
import { MemorySessionChannel, SessionWatcher } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';
import type { SessionClaim } from '@holdfast/core/store';
import fc from 'fast-check';
import { test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';

const definition = { name: 'helper' };
const LEASE = { leaseSeconds: 600 };
const FAILED = { error: { name: 'Error', message: 'No.' }, delaysSeconds: [5] };

/** All that a stranger may have of a session of somebody else. */
interface Target {
  readonly sessionId: string;
  readonly session: AgentSession;
  /** The session before its last save, which had the operation id `op`. */
  readonly base: AgentSession;
  readonly claim: SessionClaim;
  readonly itemId: string;
}

interface Stranger {
  readonly owner: string;
  readonly runtime: SessionRuntime;
  readonly store: SessionStore;
  readonly watcher: SessionWatcher;
}

type Attack = (stranger: Stranger, target: Target) => Promise<unknown>;

/** A copy of a document with other facts, as somebody can write it who has seen the document. */
function forged(session: AgentSession, facts: object): AgentSession {
  const document: unknown = JSON.parse(JSON.stringify({ ...session.toJSON(), ...facts, version: 2 }));
  return AgentSession.fromJSON(document);
}

const renamed = (session: AgentSession): AgentSession => session.withDescription({ title: 'Mine' });

const OF_RUNTIMES: Readonly<Record<string, Attack>> = {
  get: ({ runtime }, { sessionId }) => runtime.get(sessionId),
  info: ({ runtime }, { sessionId }) => runtime.info(sessionId),
  inspect: ({ runtime }, { sessionId }) => runtime.inspect(sessionId),
  executions: ({ runtime }, { sessionId }) => runtime.executions(sessionId),
  revisions: ({ runtime }, { sessionId }) => runtime.revisions(sessionId),
  execute: ({ runtime }, { sessionId }) => runtime.execute(sessionId, sendMessage('Hello')),
  later: ({ runtime }, { sessionId }) => runtime.execute(sessionId, sendMessage('Hello'), { steps: 'later' }),
  quick: ({ runtime }, { sessionId }) => runtime.execute(sessionId, describeSession({ title: 'Mine' })),
  enqueue: ({ runtime }, { sessionId }) => runtime.enqueue(sessionId, { type: 'message', content: 'Hello' }),
  stop: ({ runtime }, { sessionId }) => runtime.enqueue(sessionId, { type: 'stop' }),
  removeItem: ({ runtime }, { sessionId, itemId }) => runtime.removeItem(sessionId, itemId),
  fork: ({ runtime }, { sessionId }) => runtime.fork(sessionId),
  forkAt: ({ runtime }, { sessionId }) => runtime.fork(sessionId, { atVersion: 1 }),
  advance: ({ runtime }, { sessionId }) => runtime.advance(sessionId),
  routed: ({ runtime }, { sessionId }) => runtime.advance(sessionId, { route: 'lane-and-group' }),
  child: ({ runtime }, { sessionId: parentId }) => runtime.create({ definition, parentId }),
  children: ({ runtime }, { sessionId: parentId }) => runtime.list({ parentId }),
  delete: ({ runtime }, { sessionId }) => runtime.delete(sessionId),
  watch: ({ store, watcher, owner }, { sessionId }) =>
    Promise.allSettled([
      watcher.watch(sessionId, { owner }).next(),
      new SessionWatcher({ store, channel: new MemorySessionChannel() }).watch(sessionId).next(),
    ]).then(([one, other]) => [one.status, other.status]),
};

const OF_STORES: Readonly<Record<string, Attack>> = {
  load: ({ store }, { sessionId, session: base }) => store.load(sessionId, { base }),
  exists: ({ store }, { sessionId }) => store.exists(sessionId),
  loadRevision: ({ store }, { sessionId }) => store.loadRevision(sessionId, 1),
  ofBase: ({ store }, { sessionId, session: base }) => store.executions(sessionId, { base }),
  deleteRevision: ({ store }, { sessionId, session: { revision } }) => store.delete(sessionId, { revision }),
  recordFailure: ({ store }, { sessionId }) => store.recordFailure(sessionId, FAILED),
  enqueueAgain: ({ store }, { sessionId, itemId }) => store.enqueue(sessionId, { id: itemId, content: 1 }),
  claim: ({ store }, { sessionId, session: base, claim: { workerId } }) =>
    store.claim(sessionId, { ...LEASE, workerId, base }),
  renew: ({ store }, { claim }) => store.renew(claim, LEASE),
  renewOwn: ({ store, owner }, { claim, session: base }) =>
    store.renew({ ...claim, owner }, { ...LEASE, base }),
  release: ({ store }, { claim, session: base }) => store.release(claim, { base }),
  releaseOwn: ({ store, owner }, { claim }) => store.release({ ...claim, owner }),
  save: ({ store }, { session: base, claim: { epoch } }) => store.save(renamed(base), { base, epoch }),
  saveOwn: ({ store, owner }, { session: base, claim: { epoch } }) =>
    store.save(renamed(forged(base, { owner })), { base, epoch }),
  saveNobodys: ({ store }, { session }) => store.save(renamed(forged(session, { owner: undefined }))),
  saveAgain: ({ store }, { session, base }) =>
    store.save(renamed(base.withState(session.state)), { base, operationId: 'op' }),
  createAsOwn: ({ store, owner }, { session, claim: { epoch } }) =>
    store.save(AgentSession.create({ sessionId: session.sessionId, owner, definition }), { epoch }),
};

const ATTACKS = { ...OF_RUNTIMES, ...OF_STORES };

/** The result or the error of an attack, without the id of its session. */
async function outcomeOf(attack: Promise<unknown>, { sessionId }: Target): Promise<string> {
  const outcome: unknown = await attack.then(
    (value) => ({ value }),
    (error: { readonly code?: string; readonly message: string }) => [error.code, error.message],
  );
  return (JSON.stringify(outcome) ?? '').replaceAll(JSON.stringify(sessionId).slice(1, -1), 'ID');
}

/** A session with a conversation, an item in its inbox, and a claim of a worker. */
async function targetOf(runtime: SessionRuntime, store: SessionStore, sessionId: string): Promise<Target> {
  const base = await runtime.execute(
    (await runtime.create({ definition, sessionId })).sessionId,
    sendMessage('Hello'),
  );
  await store.save(base.withDescription({ title: 'First' }), { base, operationId: 'op' });
  await runtime.enqueue(sessionId, { type: 'message', content: 'More' }, { id: 'item' });
  const { session, claim } = await store.claim(sessionId, { ...LEASE, workerId: `worker of ${sessionId}` });
  await runtime.get(sessionId); // it is in the cache
  return { sessionId, base, session, claim, itemId: 'item' };
}

/** The session that no store has, with the documents of one that it has. */
function missingLike({ session, base, claim, itemId }: Target): Target {
  const sessionId = 'none';
  const other = { session: forged(session, { sessionId }), base: forged(base, { sessionId }) };
  return { ...other, sessionId, claim: { ...claim, sessionId }, itemId };
}

function world() {
  const store = new MemorySessionStore({ keptRevisions: 10 });
  const channel = new MemorySessionChannel();
  const touched = new Set<string>();
  const notify = channel.notify.bind(channel);
  const publish = channel.publish.bind(channel);
  channel.notify = async (id, notification) => (touched.add(id), notify(id, notification));
  channel.publish = async (id, entries, options) => (touched.add(id), publish(id, entries, options));
  const bases = new Map<string, AgentSession | undefined>();
  const load = store.load.bind(store);
  store.load = async (id, options) => (bases.set(id, options?.base), load(id, options));
  const driver = scriptedDriver(...Array<string>(200).fill('Hello.'));
  const runtime = new SessionRuntime({ store, channel, agents: { helper: createAgentLoop({ driver }) } });
  const shown = async ({ sessionId }: Target): Promise<unknown> => [
    await load(sessionId),
    await store.inspect(sessionId),
    (await store.executions(sessionId)).executions,
    (await store.revisions(sessionId)).revisions,
  ];
  return { store, runtime, touched, bases, shown, watcher: new SessionWatcher({ store, channel }) };
}

const owners = fc.oneof(
  fc.constantFrom('a', 'a\0', 'a ', ' a', 'A', 'á', 'a\u0301', 'aa', '\0', ' ', '\u200b', '\ufffd', '🦊'),
  fc.constantFrom('__proto__', 'constructor', 'undefined', 'null', '%', '*', '{0}', '/', 'a/chat', '"', '\\'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
);
const attacks = fc.record({
  name: fc.constantFrom(...Object.keys(ATTACKS)),
  by: fc.nat({ max: 2 }),
  of: fc.nat({ max: 2 }),
});

test('no owner reads, changes, evicts or wakes a session of another, with all that it may have of it', async () => {
  const plans = [
    fc.uniqueArray(owners, { minLength: 2, maxLength: 3 }),
    fc.array(attacks, { minLength: 6, maxLength: 12 }),
  ] as const;
  await fc.assert(
    fc.asyncProperty(...plans, async (names, moves) => {
      const { store, runtime, touched, bases, shown, watcher } = world();
      const all: (readonly [Stranger, Target])[] = [];
      for (const owner of names) {
        const own = runtime.for(owner);
        const target = await targetOf(own, store, `${owner}/chat`);
        all.push([{ owner, runtime: own, store: own.store, watcher }, target]);
      }
      for (const { name, by, of } of moves) {
        const [stranger] = all[by % all.length] ?? assert.fail();
        const [victim, target] = all[of % all.length] ?? assert.fail();
        const attack = ATTACKS[name] ?? assert.fail();
        if (stranger === victim) continue;
        const before = await shown(target);
        touched.clear();
        const missing = missingLike(target);
        const outcome = await outcomeOf(attack(stranger, target), target);
        assert.equal(outcome, await outcomeOf(attack(stranger, missing), missing), name);
        assert.deepEqual(await shown(target), before, name);
        assert.equal(touched.has(target.sessionId), false, name);
        await victim.runtime.get(target.sessionId);
        assert(bases.get(target.sessionId) !== undefined, `${name}: the cache has lost the session`);
        const listed = (await stranger.runtime.list()).sessions;
        assert.deepEqual(
          listed.map(({ owner }) => owner),
          listed.map(() => stranger.owner),
        );
      }
    }),
    cases(25),
  );
});

/** They do nothing to a session of the same owner either. */
const WITHOUT_EFFECT = ['children', 'saveNobodys'];

test('an owner reaches a session of its own by each of these ways', async () => {
  const reached: string[] = [];
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const { store, runtime, watcher } = world();
    const own = runtime.for('ada');
    const target = await targetOf(own, store, 'ada/chat');
    const ada = { owner: 'ada', runtime: own, store: own.store, watcher };
    const missing = missingLike(target);
    const outcome = await outcomeOf(attack(ada, missing), missing);
    if ((await outcomeOf(attack(ada, target), target)) !== outcome) reached.push(name);
  }
  assert.deepEqual(
    reached,
    Object.keys(ATTACKS).filter((name) => !WITHOUT_EFFECT.includes(name)),
  );
});

test('a creation under the id of another owner learns that the id is taken, and changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(owners, { minLength: 2, maxLength: 2 }), async ([ada = '', bo = '']) => {
      const { store, runtime, shown } = world();
      const target = await targetOf(runtime.for(ada), store, 'chat');
      const before = await shown(target);
      const taken = { code: 'SESSION_CONFLICT', kind: 'exists', expected: 0, actual: 1 };
      await assert.rejects(runtime.for(bo).create({ definition, sessionId: 'chat' }), taken);
      const { sessionId } = await runtime.for(bo).create({ definition });
      await assert.rejects(runtime.for(bo).fork(sessionId, { sessionId: 'chat' }), taken);
      assert.deepEqual(await shown(target), before);
    }),
    cases(10),
  );
});
