import { createAgentLoop, MemorySessionStore, SessionRuntime, tool } from '@holdfast/core';
import { sweep, type AdvanceResult, type WakeOptions } from '@holdfast/core/engine';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../tools/config/vitest.properties.ts';
import { openEngine } from './support/bullmq-harness.ts';

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  redis = new Redis({ port: server.port });
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** Each key alone runs with `EFFORT=2`, and else each eighth. */
const EVERY = Number(process.env['EFFORT'] ?? 1) > 1 ? 1 : 8;
const TIMES = { lockSeconds: 1, stalledSeconds: 0.5 };
const SUSPENDED: AdvanceResult = { outcome: { type: 'suspended' }, wake: [] };

/** The sessions of a queue: one in work, and others that wait in its lane, in another, and for a slot of its group. */
const SESSIONS: Readonly<Record<string, WakeOptions>> = {
  'in work': { lane: 'x', group: 'ann' },
  'in the lane': { lane: 'x', group: 'bob' },
  'without a lane': { group: 'bob' },
  'in the group': { lane: 'y', group: 'ann' },
};

/** A worker with one session in work, until the test lets it end. The others wait. */
async function busyQueue() {
  const prefix = `{${crypto.randomUUID()}}`;
  const errors: unknown[] = [];
  const looks: string[] = [];
  const work = Promise.withResolvers<void>();
  const onError = (error: unknown): void => void errors.push(error);
  const { engine, close } = openEngine(
    { url: server.url() },
    { prefix, groupConcurrency: 1, ...TIMES, onError },
  );
  const served = await engine.serve(
    async (sessionId) => {
      looks.push(sessionId);
      if (looks.length > 1) return SUSPENDED;
      await work.promise;
      return { outcome: { type: 'yield' }, wake: [], next: { agentName: 'agent', lane: 'x', group: 'ann' } };
    },
    { concurrency: 1, onError },
  );
  const end = async (): Promise<void> => {
    work.resolve();
    await served.stop();
    await close();
  };
  onTestFinished(end);
  const wakeAll = async (): Promise<void> => {
    for (const [sessionId, options] of Object.entries(SESSIONS)) await engine.wake(sessionId, options);
  };
  await engine.wake('in work', SESSIONS['in work']);
  await until('a session is in work', () => looks.length === 1);
  await wakeAll();
  /**
   * Wakes all sessions as a sweep does, lets the work end, and waits until each session was worked on after that. Returns the
   * errors without a code.
   */
  const errorsAfterWork = async ({ end: ends = true } = {}): Promise<readonly string[]> => {
    await wakeAll();
    work.resolve();
    const missing = (): readonly string[] =>
      Object.keys(SESSIONS).filter((id) => !looks.slice(1).includes(id));
    await until('each session is worked on', () => missing().length === 0).catch((error: unknown) => {
      throw new Error(`These sessions are not worked on: ${missing().join(', ')}.`, { cause: error });
    });
    if (ends) await end();
    return uncoded(errors);
  };
  return {
    engine,
    prefix,
    errors,
    looks,
    wakeAll,
    finish: work.resolve,
    errorsAfterWork,
    keys: await keysOf(prefix),
  };
}

const keysOf = async (prefix: string): Promise<readonly string[]> =>
  (await redis.keys(`${prefix}*`)).toSorted();

/** Returns the errors without a code of Holdfast. */
const uncoded = (errors: readonly unknown[]): readonly string[] =>
  errors.filter((error) => !/^[A-Z_]{5,}$/u.test(String((error as { code?: unknown }).code))).map(String);

/** Returns the key of a queue that ends with a text. */
const keyOf = (keys: readonly string[], end: string): string => keys.find((key) => key.endsWith(end)) ?? end;

describe('each session is worked on, and each error has a code, when a queue', () => {
  test('loses one of its keys', async () => {
    const all = await busyQueue();
    expect(await all.errorsAfterWork()).toEqual([]);
    for (let index = 0; index < all.keys.length; index += EVERY) {
      const { keys, errorsAfterWork } = await busyQueue();
      await redis.del(keys[index] ?? '');
      expect(await errorsAfterWork()).toEqual([]);
    }
  });

  test('loses its keys one by one, while wake-ups arrive', async () => {
    const orders = fc.infiniteStream(fc.nat());
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { keys, wakeAll, errorsAfterWork } = await busyQueue();
        const rest = [...keys];
        const count = (order.next().value ?? 0) % keys.length;
        for (let deleted = 0; deleted < count; deleted++) {
          const [key = ''] = rest.splice((order.next().value ?? 0) % rest.length, 1);
          await redis.del(key);
          if ((order.next().value ?? 0) % 8 === 0) await wakeAll();
        }
        expect(await errorsAfterWork()).toEqual([]);
      }),
      cases(4),
    );
  });

  test('loses all its keys at once', async () => {
    const { keys, errorsAfterWork } = await busyQueue();
    await redis.del(...keys);
    expect(await errorsAfterWork()).toEqual([]);
  });
});

/** Changes a field of the job that waits in the lane. */
async function changeJob(keys: readonly string[], field: string, value: string): Promise<void> {
  const waiting = keyOf(keys, ':agents.lane.x:prioritized');
  const [id] = await redis.zrange(waiting, '0', '0');
  await redis.hset(waiting.replace('prioritized', id ?? ''), field, value);
}

/** Changes of a queue, by what they do. */
const CHANGES: Readonly<Record<string, (keys: readonly string[], prefix: string) => Promise<unknown>>> = {
  'data that are no JSON': (keys) => changeJob(keys, 'data', '{"sessionId":'),
  'data of another shape': (keys) => changeJob(keys, 'data', '[5]'),
  'data with a lane that is no text': (keys) =>
    changeJob(keys, 'data', '{"sessionId":"in the lane","at":1,"lane":5}'),
  'options that are no JSON': (keys) => changeJob(keys, 'opts', 'x'),
  'the data of a session in work': (keys) => redis.hset(keyOf(keys, ':agents.lane.x:1'), 'data', 'x'),
  'jobs without a hash': async (keys) => {
    await redis.zadd(keyOf(keys, ':agents.lane.x:prioritized'), 1, 'foreign');
    await redis.rpush(keyOf(keys, ':agents.lane.x:active'), 'foreign in work');
  },
  'lanes that no worker has stored': (keys) =>
    redis.hset(keyOf(keys, ':holdfast:lanes'), { x: 'soon', '5': '1', '"y"': 'soon' }),
  'groups that no worker has stored': (keys) => redis.sadd(keyOf(keys, ':holdfast:groups'), 'x', '5'),
  'wake-ups of groups that are no JSON': async (keys) => {
    const key = keyOf(keys, ':holdfast:groups:wake-ups');
    for (const session of await redis.hkeys(key)) await redis.hset(key, session, '{');
  },
  'wake-ups of groups of another shape': async (keys) => {
    const key = keyOf(keys, ':holdfast:groups:wake-ups');
    for (const session of await redis.hkeys(key)) await redis.hset(key, session, '7');
  },
  'slots of a group that never end': (keys) => redis.zadd(keyOf(keys, ':busy'), 1e15, 'foreign'),
  'a start of a worker that is no number': (keys) =>
    redis.hset(keyOf(keys, ':holdfast:settings'), 'startedAt', 'x'),
  'turns that are no number': (_, prefix) => redis.set(`${prefix}:agents:holdfast:turns:4:x:served`, 'x'),
  'a wake-up of another lane that is no JSON': async (keys) =>
    redis.set(keyOf(keys, '').replace(/:[^:]*$/u, ':x'), 'x'),
  'a lock that does not end': async (keys) => {
    const held = keys.find((key) => key.includes(':holdfast:lock:')) ?? '';
    await redis.set(held, 'x');
  },
};

describe('each session is worked on, and each error has a code, when a queue has', () => {
  test.each(Object.entries(CHANGES))('%s', async (_, change) => {
    const { keys, prefix, errorsAfterWork } = await busyQueue();
    await change(keys, prefix);
    expect(await errorsAfterWork()).toEqual([]);
  });
});

test('a session whose job has its name and other damage is woken at once', async () => {
  const { keys, errors, looks, finish } = await busyQueue();
  await changeJob(keys, 'opts', 'x');
  finish();
  await until('the session is worked on', () => looks.includes('in the lane'));
  expect(errors).toContainEqual(
    expect.objectContaining({ code: 'QUEUE_DAMAGED', data: { queue: 'agents', sessionId: 'in the lane' } }),
  );
});

test.each<readonly [string, (base: string, id: string) => Promise<unknown>]>([
  ['is in no list', (base) => redis.del(`${base}delayed`)],
  ['has no hash', (base, id) => redis.del(base + id)],
  ['has data that are no JSON', (base, id) => redis.hset(base + id, 'data', 'x')],
  ['has options that are no JSON', (base, id) => redis.hset(base + id, 'opts', 'x')],
])('a timer that %s does not hold up another wake-up at its instant', async (_, change) => {
  const { prefix, errors, looks, engine, errorsAfterWork } = await busyQueue();
  const options = { at: Date.now() + 500, lane: 'z' };
  await engine.wake('later', options);
  const base = `${prefix}:agents.timers:`;
  const [id = ''] = await redis.zrange(`${base}delayed`, '0', '0');
  await change(base, id);
  await engine.wake('later', options);
  expect(await errorsAfterWork({ end: false })).toEqual([]);
  await until('the session is worked on', () => looks.includes('later'));
  expect(uncoded(errors)).toEqual([]);
});

/** Returns whether the work on each session has ended. */
async function haveEnded(runtime: SessionRuntime, sessionIds: readonly string[]): Promise<boolean> {
  const sessions = await Promise.all(sessionIds.map((id) => runtime.get(id)));
  return sessions.every(({ state }) => state.status === 'completed');
}

test('sessions end while keys of their queue are deleted, and a sweep runs', async () => {
  const store = new MemorySessionStore();
  const steps = 6;
  const driver = {
    infer: async ({
      messages,
    }: {
      readonly messages: { toArray: () => readonly { readonly role: string }[] };
    }) =>
      messages.toArray().filter(({ role }) => role === 'tool').length < steps
        ? {
            content: [
              { type: 'tool-call' as const, toolCallId: crypto.randomUUID(), toolName: 'act', input: {} },
            ],
          }
        : { text: 'Done.' },
  };
  const act = tool({
    name: 'act',
    description: 'Acts.',
    inputSchema: { type: 'object' },
    execute: async () => 'done',
  });
  const agents = { worker: createAgentLoop({ driver, tools: [act] }) };
  const runtime = new SessionRuntime({
    store,
    agents,
    schedule: ({ sessionId }) => SESSIONS[sessionId.replace(/ \d+$/u, '')] ?? {},
  });
  const prefix = `{${crypto.randomUUID()}}`;
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const engines = [1, 2].map(() =>
    openEngine({ url: server.url() }, { prefix, groupConcurrency: 2, ...TIMES, onError }),
  );
  for (const { engine, close } of engines) {
    onTestFinished(close);
    const served = await engine.serve((id, options) => runtime.advance(id, options), { onError });
    onTestFinished(() => served.stop());
  }
  const ids = Object.keys(SESSIONS).flatMap((name) =>
    Array.from({ length: 3 }, (_, index) => `${name} ${index}`),
  );
  for (const sessionId of ids) {
    await runtime.create({ sessionId, definition: { name: 'worker' } });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Act.' });
    await engines[0]?.engine.wake(sessionId);
  }
  const [order] = fc.sample(fc.infiniteStream(fc.nat()), 1);
  for (let deleted = 0; !(await haveEnded(runtime, ids)); deleted++) {
    const keys = await keysOf(prefix);
    const key = keys[(order?.next().value ?? 0) % keys.length];
    if (key !== undefined && deleted < 200) await redis.del(key);
    if (engines[1]) await sweep(store, engines[1].engine, { againAfterSeconds: 0.5 });
  }
  expect(uncoded(errors)).toEqual([]);
});
