import { runThroughOutage } from '@holdfast/conformance/test';
import { RedisSessionStore } from '@holdfast/store-redis';
import { RedisServer } from 'test-servers';
import { expect, test } from 'vitest';

test('the outcome of a call is saved once when a server that stood still continues', async () => {
  const server = await RedisServer.start();
  const store = await RedisSessionStore.open({
    redis: { host: '127.0.0.1', port: server.port },
    timeoutSeconds: 0.2,
  });
  const outage = { begin: () => server.pause(), end: () => server.resume() };
  const { session, starts, pauses } = await runThroughOutage(store, outage);
  expect(pauses).toBeGreaterThanOrEqual(6);
  expect([starts, session.state.finalResponse]).toEqual([1, 'Paid.']);
  const [execution] = session.state.steps[0]?.toolExecutions ?? [];
  expect([execution?.outcome?.type, execution?.attempt]).toEqual(['succeeded', 1]);
  await expect(store.load(session.sessionId)).resolves.toEqual(session);
  await store.close();
  await server.stop();
});
