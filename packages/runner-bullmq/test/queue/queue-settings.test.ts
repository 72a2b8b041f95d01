import type { AdvanceResult } from '@holdfast/core/engine';
import type { BullmqEngineOptions } from '@holdfast/runner-bullmq';
import { Redis } from 'ioredis';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openEngine } from '../support/bullmq-harness.ts';

const FINISHED: AdvanceResult = { outcome: { type: 'finished' }, wake: [] };

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start({ args: ['--appendonly', 'yes'] });
});
afterAll(() => server.stop());

/** Starts a worker of a queue. Returns its warnings. */
async function start(name: string, options: Partial<BullmqEngineOptions>): Promise<readonly string[]> {
  const warnings: string[] = [];
  const onWarning = (warning: string): void => void warnings.push(warning);
  const { engine, close } = openEngine({ url: server.url() }, { name, onWarning, ...options });
  onTestFinished(close);
  const served = await engine.serve(async () => FINISHED);
  onTestFinished(() => served.stop());
  return warnings;
}

test('a worker with the limits of the others starts without a warning', async () => {
  const options = {
    lanes: { openai: { concurrency: 40 }, local: { rate: { max: 5, seconds: 1 } } },
    groupConcurrency: 5,
  };
  const { openai, local } = options.lanes;
  expect(await start('same', options)).toEqual([]);
  expect(await start('same', { ...options, lanes: { local, openai } })).toEqual([]);
});

test('a worker with other limits warns', async () => {
  await start('other', { lanes: { openai: { concurrency: 40 } } });
  expect(await start('other', { lanes: { openai: { concurrency: 20 } }, groupConcurrency: 5 })).toEqual([
    'The last worker that started on the queue "other" has lanes {"openai":{"concurrency":40}}, and this one has {"openai":{"concurrency":20}}. The limits of the worker that started last hold for all. Pass the same to all workers.',
    'The last worker that started on the queue "other" has groupConcurrency none, and this one has 5. Each worker counts with its own. Pass the same to all workers.',
  ]);
});

test('a worker with another store warns', async () => {
  await start('shared', { storeName: 'redis://orders' });
  expect(await start('shared', { storeName: 'redis://invoices' })).toEqual([
    'The last worker that started on the queue "shared" has storeName redis://orders, and this one has redis://invoices. Engines on one queue need one session store. Use another name or prefix for one of them.',
  ]);
});

test('a worker ends the limits of a lane that it does not limit', async () => {
  await start('relaxed', { lanes: { openai: { concurrency: 40, rate: { max: 5, seconds: 1 } } } });
  const meta = '{holdfast}:relaxed.lane.openai:meta';
  const redis = redisClient();
  expect(await redis.hmget(meta, 'concurrency', 'max')).toEqual(['40', '5']);
  await start('relaxed', {});
  expect(await redis.hmget(meta, 'concurrency', 'max')).toEqual([null, null]);
});

test('an older worker does not bring its limits back', async () => {
  const lanes = { openai: { concurrency: 40 } };
  const { engine: older, close } = openEngine({ url: server.url() }, { name: 'deployed', lanes });
  onTestFinished(close);
  const served = await older.serve(async () => FINISHED);
  onTestFinished(() => served.stop());
  await start('deployed', { lanes: { openai: { concurrency: 20 } } });
  await older.backlog(); // reads the lanes again
  const redis = redisClient();
  expect(await redis.hget('{holdfast}:deployed.lane.openai:meta', 'concurrency')).toBe('20');
});

test('after the server has lost its data, the limits of the worker that started last hold again', async () => {
  await start('lost', { lanes: { openai: { concurrency: 40 } } });
  await start('lost', { lanes: { openai: { concurrency: 20 } } });
  const redis = redisClient();
  await redis.flushall();
  const { engine, close } = openEngine({ url: server.url() }, { name: 'lost' });
  onTestFinished(close);
  await engine.wake('session', { lane: 'openai' });
  const limit = (): Promise<string | null> => redis.hget('{holdfast}:lost.lane.openai:meta', 'concurrency');
  await until('a limit holds', async () => (await limit()) !== null);
  await until('the limit of the last worker holds', async () => (await limit()) === '20');
  await engine.wake('another', { lane: 'a new lane' }); // all workers read the settings again
  expect(await limit()).toBe('20');
});

test('a queue of another layout is refused, by workers and before the first wake-up', async () => {
  await redisClient().hset('{holdfast}:future:holdfast:settings', { layout: '2' });
  const refusal = {
    code: 'QUEUE_UNSUITABLE',
    message:
      'The queue "future" under the prefix "{holdfast}" has the layout 2, and this release has the layout 1. Use another name or prefix.',
  };
  await expect(start('future', {})).rejects.toMatchObject(refusal);
  const { engine, close } = openEngine({ url: server.url() }, { name: 'future' });
  onTestFinished(close);
  await expect(engine.wake('session')).rejects.toMatchObject(refusal);
  await expect(engine.check()).rejects.toMatchObject(refusal);
});

function redisClient(): Redis {
  const redis = new Redis(server.port);
  onTestFinished(() => redis.disconnect());
  return redis;
}
