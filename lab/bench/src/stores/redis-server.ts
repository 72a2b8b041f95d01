import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';

/** Starts the server of the environment variable `REDIS_SERVER`, Redis or Valkey, which writes nothing to disk. */
export async function startRedis(): Promise<RedisServer> {
  return RedisServer.start({ program: process.env['REDIS_SERVER'] ?? 'redis-server' });
}

/** Returns the name and the version of a server, such as `Redis 7.0.15`. */
export async function describeServer(server: RedisServer): Promise<string> {
  const client = new Redis(server.url());
  const info = await client.info('server');
  client.disconnect();
  const [valkey, redis] = [/^valkey_version:(\S+)/m.exec(info), /^redis_version:(\S+)/m.exec(info)];
  return valkey ? `Valkey ${valkey[1]}` : `Redis ${redis?.[1]}`;
}
