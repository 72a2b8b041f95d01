import { newSession, withFact } from '@holdfast/conformance';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';
import { freePort, RedisServer, until } from 'test-servers';
import { afterEach, expect, test } from 'vitest';

let server: RedisServer;
let client: Redis;

async function started(args: readonly string[] = []): Promise<void> {
  server = await RedisServer.start({ args });
  client = new Redis(server.port);
}

afterEach(async () => {
  client.disconnect();
  await server.stop();
});

const opened = (timeoutSeconds: number) => new RedisSessionStore({ client, timeoutSeconds });

/** The number of commands that the server has refused with this error. */
async function refusals(kind: string): Promise<number> {
  const stats = await client.info('errorstats');
  return Number(new RegExp(`errorstat_${kind}:count=(\\d+)`).exec(stats)?.[1] ?? 0);
}

const REFUSED = { code: 'STORE_UNAVAILABLE', isAmbiguous: false };

test('a write to a read-only server is retried until its timeout, and is not ambiguous', async () => {
  await started();
  const [hasty, patient] = [opened(0.1), opened(20)];
  const base = await patient.create(newSession('a'));
  await hasty.load('a');
  await client.replicaof('127.0.0.1', await freePort());
  const changed = withFact(base, 'n', 1);
  await expect(hasty.save(changed, { base })).rejects.toMatchObject(REFUSED);
  await expect(hasty.load('a')).resolves.toEqual(base);
  const before = await refusals('READONLY');
  const saving = patient.save(changed, { base });
  await until('it has refused', async () => (await refusals('READONLY')) > before);
  await client.replicaof('NO', 'ONE');
  expect((await saving).version).toBe(2);
});

test('a write to a Cluster without slots is retried until its timeout, and is not ambiguous', async () => {
  await started(['--cluster-enabled', 'yes']);
  await expect(opened(0.1).create(newSession('a'))).rejects.toMatchObject(REFUSED);
  const before = await refusals('CLUSTERDOWN');
  const creating = opened(20).create(newSession('a'));
  await until('it has refused', async () => (await refusals('CLUSTERDOWN')) > before);
  await client.cluster('ADDSLOTSRANGE', 0, 16_383);
  expect((await creating).version).toBe(1);
});
