import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from './service.ts';

/** A Redis server on a socket of its own. */
export async function startRedis(): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const socket = join(folder, 'redis.sock');
  const options = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
  const end = once(server, 'exit');
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false }))
    if (String(text).includes('ready to accept')) break;
  return {
    env: { REDIS_URL: socket },
    async close() {
      server.stdout.resume();
      server.kill();
      await end;
      await rm(folder, { recursive: true });
    },
  };
}
