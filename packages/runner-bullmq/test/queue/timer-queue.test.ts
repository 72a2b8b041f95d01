import { RedisServer } from 'test-servers';
import { expect, test } from 'vitest';
import { TimerQueue } from '../../src/queue/timer-queue.ts';
import { GroupSlots } from '../../src/layout/group-slots.ts';
import { queueNames } from '../../src/layout/queue-names.ts';
import { EngineScripts } from '../../src/scripts/engine-scripts.ts';
import { connect } from '../../src/server/connection.ts';
import { TIMES } from '../support/bullmq-harness.ts';

test('timers close while their server is down', async () => {
  const server = await RedisServer.start();
  const client = connect({ url: `redis://127.0.0.1:${server.port}` });
  const hasFailed = Promise.withResolvers<void>();
  const names = queueNames('{test}', 'agents');
  const scripts = new EngineScripts(client, names, new GroupSlots(names, () => Infinity, 1_000));
  const events = { onError: () => hasFailed.resolve(), dropJob: async () => undefined };
  const options = { client, prefix: '{test}', ...TIMES, ...events };
  client.on('error', () => undefined);
  const timers = new TimerQueue('timers', scripts, options);
  await timers.open(async () => undefined);
  await server.stop();
  await hasFailed.promise;
  await expect(timers.close()).resolves.toBeUndefined();
  client.disconnect();
});
