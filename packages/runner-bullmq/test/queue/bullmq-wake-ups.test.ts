import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BullmqWakeUps } from '../../src/queue/bullmq-wake-ups.ts';
import { connect } from '../../src/server/connection.ts';
import { TIMES } from '../support/bullmq-harness.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

test('a renewal at the end of the work does not lock the session again', async () => {
  const client = connect({ url: `redis://127.0.0.1:${server.port}` });
  const options = { client, prefix: '{test}', name: 'agents', lanes: {}, ...TIMES };
  const wakeUps = new BullmqWakeUps({ ...options, onError: () => undefined });
  await wakeUps.open();
  await wakeUps.add([{ sessionId: 'session', at: Date.now() }]);
  const lock = await wakeUps.take();
  if (lock === undefined) throw new Error('There is no wake-up.');
  await Promise.all([wakeUps.finish(lock, { wakeUps: [] }), wakeUps.renew([lock])]);

  await wakeUps.add([{ sessionId: 'session', at: Date.now(), lane: 'openai' }]);
  const next = await wakeUps.take();
  expect(next?.schedule.lane).toBe('openai');
  await wakeUps.close();
  client.disconnect();
});

test('the limits of a lane hold again after the server has lost its data', async () => {
  const client = connect({ url: `redis://127.0.0.1:${server.port}` });
  const options = { client, prefix: '{lost}', name: 'agents', lanes: { slow: { concurrency: 1 } }, ...TIMES };
  const wakeUps = new BullmqWakeUps({ ...options, onError: () => undefined });
  await wakeUps.open();
  const limit = (): Promise<string | null> => client.hget('{lost}:agents.lane.slow:meta', 'concurrency');
  expect(await limit()).toBe('1');
  await client.del(...(await client.keys('{lost}*')));
  await wakeUps.add([{ sessionId: 'session', at: Date.now(), lane: 'slow' }]);
  await until('the limit holds again', async () => (await limit()) === '1');
  await wakeUps.close();
  client.disconnect();
});
