import { randomUUID } from 'node:crypto';
import { RedisServer } from 'test-servers';
import { newRedisClient } from '../../../src/redis.ts';

/** Starts a server for queues, with an append-only file. */
export async function startQueueServer(): Promise<RedisServer> {
  return RedisServer.start({ args: ['--appendonly', 'yes'] });
}

/** Returns the location of an empty queue. */
export function newQueue({ port }: RedisServer): string {
  return `redis://127.0.0.1:${port}#${randomUUID()}`;
}

/** Deletes all keys of a queue. Returns their number. */
export async function flushQueue(location: string): Promise<number> {
  const { client, prefix } = newRedisClient(location);
  const keys = await client.keys(`{${prefix}}*`);
  if (keys.length > 0) await client.del(...keys);
  client.disconnect();
  return keys.length;
}
