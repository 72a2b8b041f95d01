import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';

/**
 * Measures with a server and a folder of its own. The server is that of the environment variable `REDIS_SERVER`, Redis or
 * Valkey, and writes nothing to disk.
 */
export async function withRedis<T>(measure: (server: RedisServer, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = await RedisServer.start({ program: process.env['REDIS_SERVER'] ?? 'redis-server' });
  try {
    return await measure(server, folder);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the name and the version of a server, such as `Redis 7.0.15`. */
export async function describeServer(server: RedisServer): Promise<string> {
  const client = new Redis(server.url());
  const info = await client.info('server');
  client.disconnect();
  const [valkey, redis] = [/^valkey_version:(\S+)/m.exec(info), /^redis_version:(\S+)/m.exec(info)];
  return valkey ? `Valkey ${valkey[1]}` : `Redis ${redis?.[1]}`;
}
