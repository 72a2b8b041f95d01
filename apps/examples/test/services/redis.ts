import { RedisServer } from 'test-servers';
import type { Service } from './service.ts';

/** A Redis server with a port of its own. */
export async function startRedis(): Promise<Service> {
  const server = await RedisServer.start();
  return { env: { REDIS_URL: server.url() }, close: () => server.stop() };
}
