import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BullmqWakeUps } from '../../src/queue/bullmq-wake-ups.ts';
import type { BullmqLock, BullmqWakeUpsOptions } from '../../src/queue/bullmq-wake-ups.ts';
import { LAST_TICKET } from '../../src/queue/job-order.ts';
import { connect } from '../../src/server/connection.ts';
import { TIMES } from '../support/bullmq-harness.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Opens the wake-ups of an empty queue, until the test has finished. */
async function openWakeUps({ lanes = {} }: Partial<BullmqWakeUpsOptions> = {}) {
  const client = connect({ url: server.url() });
  const prefix = `{${crypto.randomUUID()}}`;
  const names = { prefix, name: 'agents' };
  const wakeUps = new BullmqWakeUps({ client, ...names, lanes, ...TIMES, onError: () => undefined });
  onTestFinished(async () => {
    await wakeUps.close();
    client.disconnect();
  });
  await wakeUps.open();
  const add = (sessionId: string, lane?: string): Promise<void> =>
    wakeUps.add([{ sessionId, at: Date.now(), lane }]);
  const take = async (): Promise<BullmqLock> => {
    const lock = await wakeUps.take();
    if (lock === undefined) throw new Error('There is no wake-up.');
    return lock;
  };
  /** Ends a turn of a session that has more work. */
  const yields = (lock: BullmqLock): Promise<void> =>
    wakeUps.finish(lock, { wakeUps: [{ sessionId: lock.sessionId, at: Date.now() }] });
  return { client, prefix, wakeUps, add, take, yields };
}

test('a renewal at the end of the work does not lock the session again', async () => {
  const { wakeUps, add, take } = await openWakeUps();
  await add('session');
  const lock = await take();
  await Promise.all([wakeUps.finish(lock, { wakeUps: [] }), wakeUps.renew([lock])]);

  await add('session', 'openai');
  expect((await take()).schedule.lane).toBe('openai');
});

test('the limits of a lane hold again after the server has lost its data', async () => {
  const { client, prefix, add } = await openWakeUps({ lanes: { slow: { concurrency: 1 } } });
  const limit = (): Promise<string | null> => client.hget(`${prefix}:agents.lane.slow:meta`, 'concurrency');
  expect(await limit()).toBe('1');
  await client.del(...(await client.keys(`${prefix}*`)));
  await add('session', 'slow');
  await until('the limit holds again', async () => (await limit()) === '1');
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
    const [id = ''] = await client.zrange(`${prefix}:agents:prioritized`, 0, 0);
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
