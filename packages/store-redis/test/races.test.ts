import { withFact } from '@holdfast/conformance';
import { hasErrorCode, SessionRuntime } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: RedisServer;
let store: RedisSessionStore;

beforeAll(async () => {
  server = await RedisServer.start();
  store = await RedisSessionStore.open({ redis: { port: server.port } });
});

afterAll(async () => {
  await store.close();
  await server.stop();
});

const MAX_REFUSALS = 1_000;

test('50 writers that each add 1 five times add 250', async () => {
  const runtime = new SessionRuntime({ store, agents: {} });
  const { sessionId } = await runtime.create({ definition: { name: 'counter' } });
  let turn = Promise.withResolvers<void>();
  const add = async (): Promise<void> => {
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      const { promise: next } = turn; // the worker that has the session now releases it later
      try {
        await runtime.execute(sessionId, (session) =>
          withFact(session, 'count', (session.state.metadata.get<number>('count') ?? 0) + 1),
        );
        turn.resolve();
        turn = Promise.withResolvers();
        return;
      } catch (error) {
        if (!hasErrorCode(error, 'SESSION_BUSY') && !hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
        await next;
      }
    }
    throw new Error('The writers hinder each other for ever.');
  };
  const writers = Array.from({ length: 50 }, async () => {
    for (let times = 0; times < 5; times++) await add();
  });
  await Promise.all(writers);
  const counted = await runtime.get(sessionId);
  expect(counted.state.metadata.get('count')).toBe(250);
  expect(counted.version).toBe(251);
});
