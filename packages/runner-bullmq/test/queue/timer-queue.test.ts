import { RedisServer } from 'test-servers';
import { expect, test } from 'vitest';
import { TimerQueue } from '../../src/queue/timer-queue.ts';
import { connect } from '../../src/server/connection.ts';
import { TIMES } from '../support/bullmq-harness.ts';

test('timers close while their server is down', async () => {
  const server = await RedisServer.start();
  const client = connect({ url: `redis://127.0.0.1:${server.port}` });
  const hasFailed = Promise.withResolvers<void>();
  const options = { client, prefix: '{test}', ...TIMES, onError: () => hasFailed.resolve() };
  client.on('error', () => undefined);
  const timers = new TimerQueue('timers', options);
  await timers.open(async () => undefined);
  await server.stop();
  await hasFailed.promise;
  await expect(timers.close()).resolves.toBeUndefined();
  client.disconnect();
});
