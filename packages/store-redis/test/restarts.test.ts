import { newSession } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import { RedisServer, until } from 'test-servers';
import { afterEach, expect, test } from 'vitest';
import { Writer } from './support/harness.ts';

let server: RedisServer;
let store: RedisSessionStore;

async function started(args: readonly string[]): Promise<void> {
  server = await RedisServer.start({ args });
  store = await RedisSessionStore.open({
    redis: { host: '127.0.0.1', port: server.port, retryStrategy: () => 10 },
  });
}

afterEach(async () => {
  await store.close();
  await server.stop();
});

test('a server with an append-only file that is killed under load loses no acknowledged save', async () => {
  await started(['--appendonly', 'yes', '--appendfsync', 'always']);
  const ids = Array.from({ length: 8 }, (_, index) => `session ${index}`);
  const writers = await Promise.all(
    ids.map(async (id) => new Writer(store, await store.create(newSession(id)))),
  );
  for (const version of [20, 40]) {
    await until('all have saved', () => writers.every(({ session }) => session.version >= version));
    await server.kill();
    await server.restart();
  }
  await until('all writers continue', () => writers.every(({ session }) => session.version >= 60));
  for (const writer of writers) {
    const session = await writer.stop();
    expect(writer.errors).toEqual([]);
    await expect(store.load(session.sessionId)).resolves.toEqual(session);
    expect(Writer.isWhole(session)).toBe(true);
  }
  expect((await store.list()).sessions).toHaveLength(8);
});

test('a server without persistence is empty after a restart, and the store works', async () => {
  await started([]);
  const base = await store.create(newSession('a'));
  await server.kill();
  await server.restart();
  await expect(store.save(base, { base })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  await expect(store.load('a')).resolves.toBeUndefined();
  expect((await store.list()).sessions).toEqual([]);
  expect((await store.create(newSession('a'))).version).toBe(1);
});
