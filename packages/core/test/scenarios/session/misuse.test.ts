import {
  changeStatus,
  InProcessEngine,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type SessionAction,
} from '@holdfast/core';
import { manualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, definition, world } from '../../support/durable-world.ts';

const misuse = { code: 'ARGUMENT_INVALID' };

test.each([
  ['agents', null],
  ['agents', 'payer'],
  ['hooks', 5],
  ['clock', {}],
  ['onSessionEvent', 5],
  ['workerName', 'x'.repeat(901)],
  ['workerName', ''],
  ['savePolicy', 'never'],
  ['maxAttempts', 0],
])('a runtime refuses the option %s: %j', (name, value) => {
  const options = { store: new MemorySessionStore(), agents: {}, [name]: value } as never;
  expect(() => new SessionRuntime(options)).toThrow(expect.objectContaining(misuse));
});

describe('a session', () => {
  test('keeps its status when the new status is unknown', async () => {
    const { store, process } = world();
    const runtime = process([]);
    const { sessionId } = await runtime.create({ definition });
    await expect(runtime.execute(sessionId, changeStatus('archived' as never))).rejects.toMatchObject(misuse);
    expect(await store.load(sessionId)).toMatchObject({ status: 'active', version: 1 });
  });

  test.each([
    ['an unknown type', { type: 'mesage', content: 'Hi.' }],
    ['undefined', undefined],
    ['a text', 'Hi.'],
    ['an empty message', { type: 'message', content: '' }],
    ['a message of a number', { type: 'message', content: 42 }],
    ['an unknown decision', { type: 'decision', toolExecutionId: 'x', decision: 'approve' }],
    ['a stop with a number as its reason', { type: 'stop', reason: 5 }],
  ])('accepts no inbox item that no worker can use: %s', async (_, content) => {
    const { store, process } = world();
    const runtime = process([]);
    const { sessionId } = await runtime.create({ definition });
    await expect(runtime.enqueue(sessionId, content as never)).rejects.toMatchObject(misuse);
    expect((await store.due()).sessions).toEqual([]);
  });

  test.each([
    ['an action that returns nothing', () => undefined, {}],
    ['a quick action that returns a state', Object.assign(() => ({}), { isQuick: true }), {}],
    ['an unknown whenBusy', sendMessage('Hi.'), { whenBusy: 'wait' }],
  ])('is not changed by %s', async (_, action, options) => {
    const { store, process } = world();
    const runtime = process([call(1)]);
    const { sessionId } = await runtime.create({ definition });
    const executed = runtime.execute(sessionId, action as unknown as SessionAction, options as never);
    await expect(executed).rejects.toMatchObject(misuse);
    expect((await store.load(sessionId))?.version).toBe(1);
  });

  test.each([{ order: 'x' }, { status: 'archived' }, { executionStatus: 'done' }, { waitingFor: 'rain' }])(
    'is not listed by the invalid query %j',
    async (query) => {
      await expect(new MemorySessionStore().list(query as never)).rejects.toMatchObject(misuse);
    },
  );
});

test.each(['beforeCreate', 'afterLoad', 'afterAction', 'beforeSave'])(
  'a hook %s that returns something other than a session is an error that names the hook',
  async (name) => {
    const { store, process } = world();
    const plain = process([]);
    const { sessionId } = await plain.create({ definition });
    const runtime = process(['Hi.'], { hooks: { [name]: () => ({}) } });
    const used =
      name === 'beforeCreate'
        ? runtime.create({ definition })
        : runtime.execute(sessionId, sendMessage('Hi.'));
    await expect(used).rejects.toMatchObject({ ...misuse, message: expect.stringContaining(name) });
    const { claim } = await store.claim(sessionId, { workerId: 'next', leaseSeconds: 1 });
    expect(claim.workerId).toBe('next');
  },
);

describe('an engine', () => {
  test.each([Number.NaN, Infinity])('does not wake a session at %s', async (at) => {
    await expect(new InProcessEngine().wake('a', { at })).rejects.toMatchObject(misuse);
  });

  test('stops within its time limit, whatever work is in progress', async () => {
    const clock = manualClock(0);
    const engine = new InProcessEngine({ clock });
    const served = await engine.serve(() => new Promise(() => undefined));
    await engine.wake('a');
    await expect(served.stop({ withinSeconds: -1 })).rejects.toMatchObject(misuse);
    const stopped = served.stop({ withinSeconds: 10 });
    let isStopped = false;
    void stopped.then(() => (isStopped = true));
    clock.advance(9_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    clock.advance(1);
    await stopped;
  });
});
