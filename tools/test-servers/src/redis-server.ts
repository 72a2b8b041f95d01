import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';

/** The options of a server. */
export interface ServerInit {
  /** Arguments of the command line: `['--appendonly', 'yes']`. */
  readonly args?: readonly string[];
  readonly port?: number;
  /** The program, by name or path; default: `redis-server`. */
  readonly program?: string;
  /** Starts a Sentinel, with these lines in its configuration file. */
  readonly sentinel?: readonly string[];
}

/** A bound for a server that does not start. */
const START_MS = 300_000;
const running = new Set<ChildProcess>();
// An interrupted test must not leave servers running. On systems that support it, neither must a killed test.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
const TIED = existsSync('/usr/bin/setpriv') ? ['setpriv', '--pdeathsig', 'KILL'] : [];
/** A replica does not wait for further replicas. */
const SETTINGS = ['--save', '', '--repl-diskless-sync-delay', '0'];

/** One `redis-server` with its own folder, and a port that stays the same after a restart. */
export class RedisServer {
  readonly port: number;
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'holdfast-redis-'));
  private readonly init: ServerInit;
  private child: ChildProcess | undefined;
  private isPaused = false;

  private constructor(port: number, init: ServerInit) {
    this.port = port;
    this.init = init;
  }

  static async start(init: ServerInit = {}): Promise<RedisServer> {
    for (;;) {
      const server = new RedisServer(init.port ?? (await freePort()), init);
      const error = await server.restart().catch((reason: unknown) => reason as Error);
      if (error === undefined) return server;
      await server.stop();
      // Another process may have taken the port since it was free.
      if (init.port !== undefined || !error.message.includes('Address already in use')) throw error;
    }
  }

  /** The URL of a database, 0 to 15. */
  url(database = 0): string {
    return `redis://127.0.0.1:${this.port}/${database}`;
  }

  /** False for a server that was killed. */
  get isAlive(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  /** False for a server that was killed or paused. */
  get isRunning(): boolean {
    return this.isAlive && !this.isPaused;
  }

  /** Starts the server again after `kill`, with its data on disk. */
  async restart(): Promise<void> {
    const { args = [], program = 'redis-server', sentinel } = this.init;
    const file = path.join(this.folder, 'sentinel.conf');
    if (sentinel) writeFileSync(file, sentinel.join('\n'));
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const kind = sentinel ? [file, ...place, '--sentinel'] : [...place, ...SETTINGS, ...args];
    const [command = '', ...rest] = [...TIED, program, ...kind];
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    this.isPaused = false;
    running.add(child);
    child.once('exit', () => running.delete(child));
    await said(child, sentinel ? 'Sentinel ID is' : 'Ready to accept connections');
  }

  /** Kills the server as a crash does: it finishes and saves nothing. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || !this.isAlive) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Deletes the data on disk of a server that was killed. */
  async lose(): Promise<void> {
    await rm(path.join(this.folder, 'appendonlydir'), { recursive: true, force: true });
  }

  /** Stops the process: the server sends no replies, and its connections stay open. */
  pause(): void {
    this.child?.kill('SIGSTOP');
    this.isPaused = true;
  }

  resume(): void {
    this.child?.kill('SIGCONT');
    this.isPaused = false;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until the process has printed a text. */
async function said(child: ChildProcess, words: string): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`redis-server ${why}:\n${log}`));
    const timer = setTimeout(fail, START_MS, 'did not start in time');
    child.once('error', (error) => fail(`cannot be started: ${error.message}`));
    child.once('exit', () => fail('has ended'));
    child.stdout?.on('data', (data: Buffer) => {
      if (log.includes(words)) return;
      log += data.toString();
      if (!log.includes(words)) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
