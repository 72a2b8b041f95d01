import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const DURABLE = ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];

/** One `redis-server` with its data in a folder, and a port that stays the same after a restart. */
export class RedisServer {
  readonly url: string;
  private readonly args: readonly string[];
  private child: ChildProcess | undefined;

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.url = `redis://127.0.0.1:${port}`;
    this.args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...settings];
  }

  static async start(folder: string, settings: readonly string[] = DURABLE): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), folder, settings);
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const child = spawn('redis-server', this.args, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    let text = '';
    for await (const chunk of child.stdout) if ((text += String(chunk)).includes('Ready to accept')) break;
    if (child.exitCode !== null) throw new Error(`redis-server ended:\n${text}`);
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
