import { newSession } from '@holdfast/conformance';
import { AgentState, userMessage, type AgentSession } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newPrefix, testServer } from './support/harness.ts';

const redis = testServer();
let observer: Redis;
let store: RedisSessionStore;

beforeAll(() => {
  observer = new Redis(redis.port);
  let at = 2_000_000_000_000; // each save has a new instant, and so changes the indexes
  const clock = { now: () => at++, newId: () => crypto.randomUUID() };
  store = new RedisSessionStore({ client: redis.client, prefix: newPrefix(), clock });
});

afterAll(() => observer.disconnect());

interface Counters {
  readonly input: number;
  readonly output: number;
  /** The number of calls, by command. */
  readonly calls: Readonly<Record<string, number>>;
}

async function counters(): Promise<Counters> {
  const info = await observer.info('stats', 'commandstats');
  const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  const calls = [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name, count]) => [name, count]);
  return {
    input: number('total_net_input_bytes'),
    output: number('total_net_output_bytes'),
    calls: Object.fromEntries(calls.map(([name, count]) => [String(name), Number(count)])),
  };
}

/** The costs that the server counts while a function runs, without the costs of the measurement. */
async function costOf(act: () => Promise<unknown>): Promise<Counters> {
  const [empty, before] = [await counters(), await counters()];
  await act();
  const after = await counters();
  const difference = (of: (counted: Counters) => number): number =>
    of(after) - of(before) - (of(before) - of(empty));
  const names = Object.keys(after.calls);
  return {
    input: difference(({ input }) => input),
    output: difference(({ output }) => output),
    calls: Object.fromEntries(
      names
        .map((name): [string, number] => [name, difference(({ calls }) => calls[name] ?? 0)])
        .filter(([, count]) => count > 0),
    ),
  };
}

async function created(id: string, messages: number): Promise<AgentSession> {
  const all = Array.from({ length: messages }, (_, index) => userMessage(`Message ${index} of ${id}.`));
  return store.create(newSession(id, { state: AgentState.empty().withMessages(all) }));
}

test('a save costs the server the same after 10 messages and after 5,000', async () => {
  const costs: Counters[] = [];
  for (const messages of [10, 10, 5_000]) {
    const base = await created(`session ${costs.length}`, messages);
    const next = base.withState(base.state.withUserMessage('x'.repeat(1_000)));
    costs.push(await costOf(() => store.save(next, { base })));
  }
  const [, short, long] = costs;
  if (!short || !long) throw new Error('Nothing was measured.');
  // One script call: one read, one write of all fields, then the writes to the indexes by last activity.
  expect(short.calls).toEqual({ evalsha: 1, time: 1, hmget: 1, hset: 1, zadd: 3 });
  expect(long.calls).toEqual(short.calls);
  expect(short.input).toBeLessThan(2_400); // the message has 1,120 of these bytes
  expect(Math.abs(long.input - short.input)).toBeLessThan(0.1 * short.input);
  expect(Math.abs(long.output - short.output)).toBeLessThanOrEqual(10);
});

test('a save under a claim changes no index', async () => {
  const base = await created('claimed', 10);
  const { claim, session } = await store.claim('claimed', { workerId: 'Ada', leaseSeconds: 60, base });
  const next = session.withState(session.state.withUserMessage('x'));
  const save = await costOf(() => store.save(next, { base: session, epoch: claim.epoch }));
  expect(save.calls).toEqual({ evalsha: 1, time: 1, hmget: 1, hset: 1 });
});

test('a load takes two requests without a script, and a page of a list takes two requests', async () => {
  for (let count = 0; count < 60; count++) await created(`listed ${count}`, 1);
  await store.list(); // loads the script
  const load = await costOf(() => store.load('listed 1'));
  expect(load.calls).toEqual({ time: 2, hmget: 2 });
  const list = await costOf(() => store.list());
  expect(list.calls).toEqual({ evalsha: 1, time: 2, zcount: 1, zrange: 1, hmget: 51 });
});

test('a long session is read in pages, without its inbox', async () => {
  const base = await created('long', 1_200);
  for (let count = 0; count < 20; count++) {
    await store.enqueue('long', { id: `item ${count}`, content: 'x'.repeat(4_000) });
  }
  const load = await costOf(() => store.load('long'));
  expect(load.calls).toEqual({ time: 4, hmget: 4 });
  const { inbox } = await store.claim('long', { workerId: 'Ada', leaseSeconds: 60, base });
  expect(inbox).toHaveLength(20);
  expect(load.output).toBeLessThan(1_200 * 200);
});
