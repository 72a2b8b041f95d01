import { freePort, RedisServer } from 'test-servers';
import { expect, test } from 'vitest';
import { LaneQueue } from '../../src/queue/lane-queue.ts';
import { connect } from '../../src/server/connection.ts';
import { TIMES } from '../support/bullmq-harness.ts';

test('a lane that is opened while its server is down works when the server runs', async () => {
  const port = await freePort();
  const client = connect({ url: `redis://127.0.0.1:${port}` });
  const hasFailed = Promise.withResolvers<void>();
  client.on('error', () => hasFailed.resolve());
  const events = {
    onError: () => hasFailed.resolve(),
    dropJob: async () => undefined,
    hasJob: async () => true,
  };
  const options = { client, prefix: '{test}', ...TIMES, ...events };
  const lane = new LaneQueue('openai', 'agents', undefined, options);
  const opened = lane.open();
  await hasFailed.promise;

  const server = await RedisServer.start({ port });
  await opened;
  await lane.add('key', { sessionId: 'session', at: Date.now() }, 1);
  expect((await lane.take('token'))?.data.sessionId).toBe('session');
  await lane.close();
  client.disconnect();
  await server.stop();
});
