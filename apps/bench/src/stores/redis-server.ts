import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

const PROGRAM = process.env['REDIS_SERVER'] ?? 'redis-server';

/** A server of this process, Redis or Valkey, on a free port, that writes nothing to disk. */
export class RedisServer {
  readonly port: number;
  private readonly child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.child = child;
  }

  /** @param folder where it runs @throws Error when the program of `REDIS_SERVER` is missing, or does not start. */
  static async start(folder: string): Promise<RedisServer> {
    const port = await freePort();
    const args = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
    const child = spawn(PROGRAM, args.map(String), { stdio: ['ignore', 'pipe', 'ignore'] });
    // Also when the measurement is broken off.
    process.once('exit', () => child.kill('SIGKILL'));
    process.once('SIGTERM', () => process.exit(1));
    await once(child, 'spawn');
    for await (const line of createInterface(child.stdout)) {
      if (line.includes('Ready to accept connections')) break;
    }
    if (child.exitCode !== null) throw new Error(`${PROGRAM} has ended with ${child.exitCode}.`);
    return new RedisServer(port, child);
  }

  /** @param database 0 to 15 */
  url(database: number): string {
    return `redis://127.0.0.1:${this.port}/${database}`;
  }

  /** Its name and version, such as `Redis 7.0.15`. */
  async describe(): Promise<string> {
    const client = new Redis(this.url(0));
    const info = await client.info('server');
    client.disconnect();
    const [valkey, redis] = [/^valkey_version:(\S+)/m.exec(info), /^redis_version:(\S+)/m.exec(info)];
    return valkey ? `Valkey ${valkey[1]}` : `Redis ${redis?.[1]}`;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
