import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRedisClient } from '../../src/redis.ts';
import { freePort } from '../servers.ts';

/** A redis-server with an append-only file, which can be killed and started again at the same port. */
export class QueueServer {
  private readonly port: number;
  private readonly folder: string;
  private server: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.folder = folder;
  }

  static async start(): Promise<QueueServer> {
    const server = new QueueServer(await freePort(), await mkdtemp(join(tmpdir(), 'holdfast-queue-')));
    await server.restart();
    return server;
  }

  /** Returns the location of an empty queue. */
  newQueue(): string {
    return `redis://127.0.0.1:${this.port}#${randomUUID()}`;
  }

  /** Starts the server, with the data on its disk. */
  async restart(): Promise<void> {
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const options = [...place, '--save', '', '--appendonly', 'yes'];
    const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.server = server;
    for await (const text of server.stdout) if (String(text).includes('Ready to accept connections')) break;
    server.stdout.resume();
  }

  async kill(): Promise<void> {
    const { server } = this;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Deletes all keys of a queue. Returns their number. */
export async function flushQueue(location: string): Promise<number> {
  const { client, prefix } = newRedisClient(location);
  const keys = await client.keys(`{${prefix}}*`);
  if (keys.length > 0) await client.del(...keys);
  client.disconnect();
  return keys.length;
}
