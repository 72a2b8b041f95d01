import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  BullmqWakeUps,
  type BullmqLock,
  type BullmqWakeUpsOptions,
} from '../../src/queue/bullmq-wake-ups.ts';
import type { Schedule } from '@holdfast/core/engine';
import { GroupSlots } from '../../src/layout/group-slots.ts';
import { LAST_TICKET } from '../../src/layout/job-order.ts';
import { queueNames } from '../../src/layout/queue-names.ts';
import { EngineScripts } from '../../src/scripts/engine-scripts.ts';
import { connect } from '../../src/server/connection.ts';
import { TIMES } from '../support/bullmq-harness.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Opens the wake-ups of an empty queue, until the test has finished. */
async function openWakeUps(init: Partial<BullmqWakeUpsOptions> = {}) {
  const { lanes = {}, groupLimits, prefix = `{${crypto.randomUUID()}}`, lockSeconds = 30 } = init;
  const client = connect({ url: server.url() });
  const options = { client, prefix, name: 'agents', lanes, groupLimits, ...TIMES, lockSeconds };
  const ignore = (): void => undefined;
  const wakeUps = new BullmqWakeUps({ ...options, onWarning: ignore, onError: ignore });
  onTestFinished(async () => {
    await wakeUps.close();
    client.disconnect();
  });
  await wakeUps.open();
  const add = (sessionId: string, schedule: string | Schedule = {}): Promise<void> =>
    wakeUps.add([
      { sessionId, at: Date.now(), ...(typeof schedule === 'string' ? { lane: schedule } : schedule) },
    ]);
  const take = async (): Promise<BullmqLock> => {
    const lock = await wakeUps.take();
    if (lock === undefined) throw new Error('There is no wake-up.');
    return lock;
  };
  /** Ends a turn of a session that has more work. */
  const yields = (lock: BullmqLock): Promise<void> =>
    wakeUps.finish(lock, { wakeUps: [{ ...lock.wakeUp, at: Date.now() }] });
  const finishes = (lock: BullmqLock): Promise<void> => wakeUps.finish(lock, { wakeUps: [] });
  return { client, prefix, wakeUps, add, take, yields, finishes };
}

test('a renewal at the end of the work does not lock the session again', async () => {
  const { wakeUps, add, take } = await openWakeUps();
  await add('session');
  const lock = await take();
  await Promise.all([wakeUps.finish(lock, { wakeUps: [] }), wakeUps.renew([lock])]);

  await add('session', 'openai');
  expect((await take()).schedule.lane).toBe('openai');
});

test('a worker takes from a lane as soon as its own process has added a wake-up', async () => {
  const { wakeUps, add, take, finishes } = await openWakeUps();
  for (const sessionId of ['first', 'second', 'third']) {
    await add(sessionId, 'openai');
    const lock = await take();
    expect(lock.sessionId).toBe(sessionId);
    await finishes(lock);
    expect(await wakeUps.take()).toBeUndefined();
  }
});

test('the limits of a lane hold again after the server has lost its data', async () => {
  const { client, prefix, add } = await openWakeUps({ lanes: { slow: { concurrency: 1 } } });
  const meta = `${prefix}:agents.lane.slow:meta`;
  const limit = (): Promise<string | null> => client.hget(meta, 'concurrency');
  expect(await limit()).toBe('1');
  await client.del(...(await client.keys(`${prefix}*`)));
  await add('session', 'slow');
  await until('the limit holds again', async () => (await limit()) === '1');
});

test('a lane that was not used for a day makes room for another, and can be used again', async () => {
  const { client, prefix, wakeUps, add, take, finishes } = await openWakeUps();
  const lanes = async (): Promise<string[]> =>
    (await client.hkeys(`${prefix}:agents:holdfast:lanes`)).toSorted();
  for (const lane of ['recent', 'unused', 'paused']) {
    await add('session', lane);
    const lock = await take();
    const pause = { lane: 'paused', until: Date.now() + 60_000 };
    await wakeUps.finish(lock, { wakeUps: [], ...(lane === 'paused' && { pause }) });
  }
  await add('waits', 'full');
  for (const lane of ['unused', 'paused', 'full'])
    await client.del(`${prefix}:agents:holdfast:turns:4:${lane}:tickets`); // as after a day

  const later = await openWakeUps({ prefix });
  expect(await lanes()).toEqual(['"full"', '"paused"', '"recent"']);
  await later.add('session', 'unused');
  expect(await lanes()).toContain('"unused"');
  const taken = [await later.take(), await later.take()];
  expect(new Set(taken.map(({ schedule }) => schedule.lane))).toEqual(new Set(['full', 'unused']));
  for (const lock of taken) await finishes(lock);
});

test('a lane is never one too many for the worker: the server counts them', async () => {
  const { prefix, add } = await openWakeUps();
  for (let lane = 0; lane < 100; lane++) await add(`session ${lane}`, `lane ${lane}`);
  await expect(add('more', 'one more')).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  const { take, finishes } = await openWakeUps({ prefix, lanes: { own: {}, other: {} } });
  for (let lane = 0; lane < 100; lane++) await finishes(await take());
});

test('a delivery of a job that another worker has by now does not get the lock of the session', async () => {
  const { client, prefix, wakeUps, add, take } = await openWakeUps();
  await add('session');
  const lock = await take();
  const { laneQueue, job, wakeUp } = lock;
  const names = queueNames(prefix, 'agents');
  const scripts = new EngineScripts(client, names, new GroupSlots(names, () => Infinity, 30_000));
  const { id = '', priority } = job;
  const earlier = {
    lane: undefined,
    id,
    priority,
    token: 'earlier',
    lockKey: `${laneQueue.queue.toKey(id)}:lock`,
  };
  expect(await scripts.lock(wakeUp, earlier)).toBe('hasAnotherWorker');
  expect(await wakeUps.renew([lock])).toEqual([]);
});

test('a lock can last for a fraction of a millisecond more', async () => {
  const { add, take } = await openWakeUps({ lockSeconds: 16.1 }); // 16100.000000000002 ms
  await add('session');
  expect((await take()).sessionId).toBe('session');
});

test('what waits in a lane is counted', async () => {
  const { wakeUps, add } = await openWakeUps({ lanes: { slow: {} } });
  const at = Date.now();
  await wakeUps.add([{ sessionId: 'a', at, lane: 'slow' }]);
  await add('b', 'slow');
  expect(await wakeUps.backlog()).toEqual([
    { lane: undefined, waiting: 0, since: undefined },
    { lane: 'slow', waiting: 2, since: at },
  ]);
});

describe('a session that yields', () => {
  test('keeps its job, and wakes an idle worker', async () => {
    const { client, prefix, add, take, yields } = await openWakeUps();
    await add('session');
    const first = await take();
    await client.del(`${prefix}:agents:marker`); // an idle worker has seen that there was a job
    await yields(first);
    expect(await client.zcard(`${prefix}:agents:marker`)).toBe(1);
    expect((await take()).job.id).toBe(first.job.id);
  });

  test('is counted as recovered once', async () => {
    const { client, prefix, add, take, yields } = await openWakeUps();
    await add('session');
    const [id = ''] = await client.zrange(`${prefix}:agents:prioritized`, '0', '0');
    await client.hincrby(`${prefix}:agents:${id}`, 'stc', 1); // as BullMQ does when a worker has died
    const recovered = await take();
    await yields(recovered);
    expect([recovered.isRecovery, (await take()).isRecovery]).toEqual([true, false]);
  });

  test('waits behind the others in a lane that has no more tickets', async () => {
    const { client, prefix, add, take, yields } = await openWakeUps();
    await client.zadd(`${prefix}:agents:holdfast:turns:4::tickets`, LAST_TICKET - 1, '');
    await client.zadd(`${prefix}:agents:prioritized`, 2 ** 53, 'another job'); // the lane is not empty
    await add('a');
    await add('b');
    await yields(await take());
    expect((await take()).sessionId).toBe('b');
  });
});

describe('a group with a limit of one', () => {
  const ada = { group: 'ada' };
  const limited = (init: Partial<BullmqWakeUpsOptions> = {}) =>
    openWakeUps({ groupLimits: () => 1, ...init });

  /** Takes and finishes so many sessions. Returns their ids, in order. */
  async function drain(
    { wakeUps, finishes }: Awaited<ReturnType<typeof openWakeUps>>,
    count: number,
  ): Promise<string[]> {
    const taken: string[] = [];
    await until(`${count} sessions are taken`, async () => {
      const lock = await wakeUps.take();
      if (lock) await finishes(lock);
      return taken.push(...(lock ? [lock.sessionId] : [])) >= count;
    });
    return taken;
  }

  test('gives its slot to the session that waits, also in another lane', async () => {
    const world = await limited();
    const { wakeUps, add, take, finishes } = world;
    await add('a', ada);
    const first = await take();
    await add('b', { ...ada, lane: 'x' });
    await add('c', { group: 'ben' });
    expect((await take()).sessionId).toBe('c');
    expect(await wakeUps.take()).toBeUndefined();
    await finishes(first);
    expect(await drain(world, 1)).toEqual(['b']);
  });

  test('has one turn for each session that waits, the highest priority first', async () => {
    const world = await limited();
    const { add, take, finishes } = world;
    await add('a', ada);
    const first = await take();
    await add('b', ada);
    await add('c', { ...ada, priority: 1 });
    await add('b', ada);
    await finishes(first);
    expect(await drain(world, 2)).toEqual(['c', 'b']);
    expect(await world.wakeUps.take()).toBeUndefined();
  });

  test('finds it full although its sessions were woken before', async () => {
    const world = await limited();
    for (const id of ['a', 'b', 'c']) await world.add(id, ada);
    const first = await world.take();
    expect(await world.wakeUps.take()).toBeUndefined();
    await world.finishes(first);
    expect((await drain(world, 2)).toSorted()).toEqual(['b', 'c']);
  });

  test('lets its sessions take turns when they yield', async () => {
    const { add, take, yields } = await limited();
    await add('a', ada);
    const first = await take();
    await add('b', ada);
    await yields(first);
    const second = await take();
    await yields(second);
    expect([second.sessionId, (await take()).sessionId]).toEqual(['b', 'a']);
  });

  test('drops no wake-up that arrives while its session is in work', async () => {
    const world = await limited();
    const { add, take, finishes } = world;
    await add('a', ada);
    const first = await take();
    await add('b', ada);
    await add('a', ada);
    await finishes(first);
    expect((await drain(world, 2)).toSorted()).toEqual(['a', 'b']);
  });

  test('keeps a slot only as long as its worker lives', async () => {
    const dead = await limited(TIMES);
    await dead.add('a', ada);
    await dead.take();
    await dead.add('b', ada);
    const alive = await limited({ ...TIMES, prefix: dead.prefix });
    expect((await drain(alive, 2)).toSorted()).toEqual(['a', 'b']);
  });

  test('lets another session have the slot that a session of a paused lane does not use', async () => {
    const { wakeUps, add, take } = await limited(TIMES);
    await add('first', ada);
    const first = await take();
    await add('paused', { ...ada, lane: 'openai' });
    await add('free', ada);
    await wakeUps.finish(first, { wakeUps: [], pause: { lane: 'openai', until: Date.now() + 60_000 } });
    let next: BullmqLock | undefined;
    await until('a session has the slot', async () => (next = await wakeUps.take()) !== undefined);
    expect(next?.sessionId).toBe('free');
  });

  test('renews the slots of its sessions', async () => {
    const { client, prefix, wakeUps, add, take } = await limited();
    await add('a', ada);
    const lock = await take();
    const [key = ''] = await client.keys(`${prefix}*:busy`);
    const ends = async (): Promise<number> => Number((await client.zrange(key, '0', '0', 'WITHSCORES'))[1]);
    const before = await ends();
    await until(
      'the clock has passed a millisecond',
      () => Date.now() > before - wakeUps.lockSeconds * 1_000 + 1,
    );
    await wakeUps.renew([lock]);
    expect(await ends()).toBeGreaterThan(before);
  });

  test('wakes a session that a worker freed before it died', async () => {
    const { client, prefix, add, take } = await limited();
    await add('a', ada);
    await take();
    await add('b', ada);
    const [key = ''] = await client.keys(`${prefix}*:busy`);
    const [session = ''] = await client.zrange(key, '0', '0');
    await client.zadd(key, 1, session); // the slot has ended, and nobody has woken "b"
    const other = await limited({ prefix });
    expect((await other.take()).sessionId).toBe('b');
  });
});
