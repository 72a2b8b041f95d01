import { setImmediate } from 'node:timers/promises';
import {
  createAgentLoop,
  MemorySessionStore,
  SessionRuntime,
  StateFormatError,
  type Clock,
  type SessionStore,
  type SessionDirectory,
} from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import {
  PollingEngine,
  type Advance,
  type PollingEngineOptions,
  type ServeOptions,
} from '@holdfast/core/engine';
import { manualClock } from '@holdfast/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

const FINISHED = { outcome: { type: 'finished' }, wake: [] } as const;
/** Turns of the event loop in which an engine in this process does what it would do by itself. */
const TURNS = 50;

async function quiet(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

/** A clock with timers that a test fires. */
function timedClock(): Clock & { readonly pass: (milliseconds: number) => Promise<void> } {
  const manual = manualClock(1_000_000);
  const timers = new Map<() => void, number>();
  return {
    now: () => manual.now(),
    newId: () => manual.newId(),
    after(milliseconds, callback) {
      timers.set(callback, manual.now() + milliseconds);
      return () => timers.delete(callback);
    },
    async pass(milliseconds) {
      manual.advance(milliseconds);
      const due = [...timers].filter(([, at]) => at <= manual.now());
      for (const [callback] of due) timers.delete(callback);
      for (const [callback] of due) callback();
      await quiet();
    },
  };
}

/** A store, and sessions that need work. Their agent responds at once. */
async function world(...sessionIds: readonly string[]) {
  const clock = timedClock();
  const store = new MemorySessionStore({ clock });
  const driver = { infer: async () => ({ text: 'Stars.' }) };
  const agents = { astronomer: createAgentLoop({ driver, clock }) };
  const runtime = new SessionRuntime({ store, agents, clock });
  const ask = async (sessionId: string): Promise<void> => {
    await runtime.create({ sessionId, definition: { name: 'astronomer' } });
    await runtime.enqueue(sessionId, { type: 'message', content: 'What is up there?' });
  };
  for (const sessionId of sessionIds) await ask(sessionId);
  return { clock, store, runtime, ask };
}

/** Serves until the end of the test. Returns the ids of the advanced sessions, in order. */
async function served(
  options: PollingEngineOptions,
  advance: Advance,
  serveOptions: ServeOptions = {},
  engine = new PollingEngine(options),
): Promise<{ readonly engine: PollingEngine; readonly ids: readonly string[] }> {
  const ids: string[] = [];
  const worker = await engine.serve((id, given) => (ids.push(id), advance(id, given)), serveOptions);
  onTestFinished(() => worker.stop());
  await quiet();
  return { engine, ids };
}

type Store = SessionStore & SessionDirectory;

/** A store with a call that the test answers. */
const withCall = <Name extends 'due' | 'takeDue'>(store: Store, name: Name, call: Store[Name]): Store =>
  new Proxy(store, {
    get(target, member) {
      const value: unknown = member === name ? call : Reflect.get(target, member);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

test('two engines on one store share a backlog, and advance each session once', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `session ${index}`);
  const { store, clock, runtime } = await world(...names);
  const advance: Advance = (id, options) => runtime.advance(id, options);
  const both = await Promise.all([1, 2].map(() => served({ store, clock }, advance)));
  while ((await store.due()).sessions.length > 0) await clock.pass(1_000);
  await quiet();
  expect(both.flatMap(({ ids }) => ids).toSorted()).toEqual(names.toSorted());
  expect(both.every(({ ids }) => ids.length > 0)).toBe(true);
});

test('a worker that loses sessions to another one looks at the store again, without a poll', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `session ${index}`);
  const { store, clock, runtime } = await world(...names);
  let looks = 0;
  const contested = withCall(store, 'due', async (query) => {
    const page = await store.due(query);
    if (looks++ < 2) for (const due of page.sessions.slice(0, 3)) await store.takeDue(due, 60);
    return page;
  });
  const { ids } = await served({ store: contested, clock }, (id, options) => runtime.advance(id, options));
  expect(ids.toSorted()).toEqual(names.slice(6));
});

describe('a wake-up in a process that does not serve', () => {
  test('reaches the worker of another process at once through the channel', async () => {
    const { store, clock, runtime, ask } = await world();
    const channel = new MemorySessionChannel();
    const { ids } = await served({ store, clock, channel }, (id, options) => runtime.advance(id, options));
    await ask('ann');
    await new PollingEngine({ store, clock, channel }).wake('ann');
    await quiet();
    expect(ids).toEqual(['ann']);
  });

  test('reaches it with the next poll without a channel', async () => {
    const { store, clock, runtime, ask } = await world();
    const { ids } = await served({ store, clock, pollSeconds: 5 }, (id, options) =>
      runtime.advance(id, options),
    );
    await ask('ann');
    await new PollingEngine({ store, clock }).wake('ann');
    await clock.pass(1_000);
    expect(ids).toEqual([]);
    await clock.pass(4_000);
    expect(ids).toEqual(['ann']);
  });

  test('is not rejected when the channel does not reply', async () => {
    const channel = new MemorySessionChannel();
    await channel.close();
    const { store, clock } = await world('ann');
    expect(await new PollingEngine({ store, clock, channel }).wake('ann')).toBe(undefined);
  });
});

test('an idle worker looks at the store at an instant that it learns, and not before', async () => {
  const { store, clock } = await world();
  let looks = 0;
  const counted = withCall(store, 'due', (query) => (looks++, store.due(query)));
  const { engine } = await served({ store: counted, clock, pollSeconds: 3_600 }, async () => FINISHED);
  await engine.wake('ann', { at: clock.now() + 5_000 });
  await quiet();
  const before = looks;
  await clock.pass(4_999);
  expect(looks).toBe(before);
  await clock.pass(1);
  expect(looks).toBe(before + 1);
});

describe('a lane', () => {
  test('a session learns its lane, waits for its turn, and is not taken from the store twice', async () => {
    const { store, clock, ask } = await world('ann', 'bob');
    let takes = 0;
    const counted = withCall(store, 'takeDue', (...args) => (takes++, store.takeDue(...args)));
    const work = Promise.withResolvers<typeof FINISHED>();
    const routed: string[] = [];
    const { ids, engine } = await served(
      { store: counted, clock, lanes: { x: { concurrency: 1 } } },
      async (id, options) => {
        if (!options?.route) return work.promise;
        routed.push(id);
        return { outcome: { type: 'yield' }, wake: [], next: { agentName: 'astronomer', lane: 'x' } };
      },
    );
    await ask('eve');
    await engine.wake('eve', { lane: 'y' });
    await quiet();
    expect([routed, ids.filter((id) => id !== 'eve').length, takes]).toEqual([['ann', 'bob'], 3, 3]);
    work.resolve(FINISHED);
    await quiet();
    expect(ids.filter((id) => id !== 'eve')).toHaveLength(4);
  });

  test('that is paused holds up no session behind many of its own', async () => {
    const limited = Array.from({ length: 150 }, (_, index) => `limited ${index}`);
    const { store, clock } = await world('first', ...limited, 'other');
    const engine = new PollingEngine({ store, clock });
    for (const id of limited) await engine.wake(id, { lane: 'x' });
    const until = clock.now() + 60_000;
    const advance: Advance = async (id) =>
      id === 'first' ? { outcome: { type: 'throttled', until, lane: 'x' }, wake: [] } : FINISHED;
    const { ids } = await served({ store, clock }, advance, { concurrency: 1 }, engine);
    await quiet();
    expect(ids).toEqual(['first', 'other']);
  });
});

test('sessions of owners have turn after turn, within the limit of each owner', async () => {
  const { store, clock, runtime } = await world();
  const names = ['ann 1', 'ann 2', 'ann 3', 'ann 4', 'bob 1'];
  const ownerOf = (sessionId: string): string => sessionId.slice(0, 3);
  for (const sessionId of names)
    await runtime.create({ sessionId, owner: ownerOf(sessionId), definition: { name: 'astronomer' } });
  const running: string[] = [];
  let turns: string[] = [];
  const advance: Advance = async (id, options = {}) => {
    if (options.route === 'lane-and-group') return runtime.advance(id, options); // the engine learns the group
    expect(running).not.toContain(ownerOf(id));
    running.push(ownerOf(id));
    turns.push(ownerOf(id));
    return runtime.advance(id, options).finally(() => void running.splice(running.indexOf(ownerOf(id)), 1));
  };
  const { engine } = await served({ store, clock, groupConcurrency: 1 }, advance);
  for (const content of ['one', 'two', 'three']) {
    turns = [];
    for (const sessionId of names) await runtime.enqueue(sessionId, { type: 'message', content });
    await engine.wake('ann 1');
    await quiet();
    expect(turns.toSorted()).toEqual(['ann', 'ann', 'ann', 'ann', 'bob']);
    expect(turns.indexOf('bob')).toBeLessThan(2); // it does not wait for the sessions of ann
  }
  expect((await store.due()).sessions).toEqual([]);
});

describe('errors', () => {
  test('an unreadable session is reported once in `againAfterSeconds`, and others continue', async () => {
    const { store, clock } = await world('bad', 'good');
    const unreadable = new StateFormatError('$', 'a record', 'a damaged one');
    const damaged = withCall(store, 'takeDue', async (due, seconds) => {
      if (due.sessionId === 'bad') throw unreadable;
      return store.takeDue(due, seconds);
    });
    const errors: unknown[] = [];
    const { ids } = await served(
      { store: damaged, clock, againAfterSeconds: 10 },
      async (id) => {
        if (id === 'bad') throw unreadable;
        return FINISHED;
      },
      { onError: (error, sessionId) => errors.push([error, sessionId]) },
    );
    for (let second = 0; second < 9; second++) await clock.pass(1_000);
    expect([errors, ids.toSorted()]).toEqual([[[unreadable, 'bad']], ['bad', 'good']]);
    for (let second = 0; second < 3; second++) await clock.pass(1_000);
    expect(errors).toHaveLength(2);
  });

  test('a store that does not reply is reported without a session, and tried again', async () => {
    const { store, clock } = await world('ann');
    const outage = new Error('No reply.');
    let isDown = true;
    const broken = withCall(store, 'due', async (query) => {
      if (isDown) throw outage;
      return store.due(query);
    });
    const errors: unknown[] = [];
    const { ids } = await served({ store: broken, clock }, async () => FINISHED, {
      onError: (error, sessionId) => errors.push([error, sessionId]),
    });
    expect(errors).toEqual([[outage, undefined]]);
    isDown = false;
    await clock.pass(1_000);
    expect(ids).toEqual(['ann']);
  });
});
