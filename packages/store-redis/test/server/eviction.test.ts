import { newSession } from '@holdfast/conformance';
import { AgentState, userMessage, type AgentSession } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';
import { afterEach, expect, test } from 'vitest';

let server: RedisServer;
let client: Redis;
let store: RedisSessionStore;
const warnings: string[] = [];

async function started(policy: string, megabytes: number): Promise<void> {
  server = await RedisServer.start({ args: ['--maxmemory-policy', policy] });
  client = new Redis(server.port);
  // More than the server needs for itself.
  await limitMemory(megabytes * 1_000_000);
  store = new RedisSessionStore({ client, onWarning: (warning) => warnings.push(warning) });
}

/** Limits the memory of the server to the used memory plus a number of bytes. */
async function limitMemory(more: number): Promise<void> {
  const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
  await client.config('SET', 'maxmemory', used + more);
}

afterEach(async () => {
  client.disconnect();
  await server.stop();
  warnings.length = 0;
});

/** A session with ten messages of 1 KB and a fact. */
function large(id: string): AgentSession {
  const text = Array.from({ length: 100 }, (_, index) => `${id} ${index}`).join(' ');
  const messages = Array.from({ length: 10 }, () => userMessage(text));
  const state = AgentState.empty().withMessages(messages).withMetadata('id', id);
  return newSession(id, { state });
}

test('a server without free memory refuses writes unambiguously', async () => {
  await started('noeviction', 1);
  const kept: AgentSession[] = [];
  const fill = async (): Promise<void> => {
    while (kept.length < 1_000) kept.push(await store.create(large(`session ${kept.length}`)));
  };
  await expect(fill()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', isAmbiguous: false });
  const [first] = kept;
  if (!first) throw new Error('Not one session found room.');
  await limitMemory(-20_000); // too little for a small write too
  await expect(store.load(`session ${kept.length}`)).resolves.toBeUndefined();
  await expect(store.save(first, { base: first })).rejects.toMatchObject({ isAmbiguous: false });
  await expect(store.load(first.sessionId)).resolves.toEqual(first);
  for (const { sessionId } of kept.slice(1)) await expect(store.delete(sessionId)).resolves.toBe(true);
  expect((await store.save(first, { base: first })).version).toBe(2);
  expect(warnings).toEqual([]);
});

test('a server with an eviction policy evicts whole sessions, never parts of a session', async () => {
  await started('allkeys-lru', 2);
  expect(warnings).toEqual([]);
  const created = new Map<string, AgentSession>();
  for (let count = 0; count < 300; count++) {
    const session = await store.create(large(`session ${count}`));
    created.set(session.sessionId, session);
  }
  expect(warnings).toEqual([expect.stringContaining('allkeys-lru')]);
  await client.config('SET', 'maxmemory', 0); // the server evicts no more keys from here on
  let left = 0;
  for (const [id, session] of created) {
    const loaded = await store.load(id);
    if (loaded) left++;
    expect([undefined, session]).toContainEqual(loaded);
  }
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(300);
  for (const { sessionId } of (await store.list()).sessions) {
    await expect(store.exists(sessionId)).resolves.toBe(true);
  }
});
