import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, inject } from 'vitest';
import { environmentOf, type WorkerSettings } from '../src/settings.ts';

/** The settings of a process, and its program. */
export interface WorkerInit extends WorkerSettings {
  /** The file of the program. Default: the worker program. */
  readonly program?: string | undefined;
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly complaints: string;
  readonly lines: readonly string[];
}

const running = new Set<WorkerProcess>();
/** The processes that several tests share. */
const shared = new Set<WorkerProcess>();

afterEach(() => {
  for (const worker of running) if (!shared.has(worker)) worker.kill();
});

/** A process of the worker program. It is killed after its test. */
export class WorkerProcess {
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: string[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(init: WorkerInit, ...args: readonly string[]) {
    const { program = inject('worker'), ...settings } = init;
    const node = { NODE_OPTIONS: '', NODE_COMPILE_CACHE: dirname(program) };
    const env = { ...process.env, ...environmentOf(settings), ...node };
    this.child = spawn(process.execPath, ['--no-warnings', program, ...args], { env });
    running.add(this);
    // A write to a process that has died fails. Its complaints have the reason of the death.
    this.child.stdin.on('error', () => undefined);
    let complaints = '';
    this.child.stderr.on('data', (data) => (complaints += String(data)));
    createInterface(this.child.stdout).on('line', (line) => {
      this.lines.push(line);
      this.waiting.shift()?.();
    });
    this.ended = once(this.child, 'close').then(([code, signal]): Ended => {
      running.delete(this);
      for (const wake of this.waiting.splice(0)) wake();
      return { code, signal, complaints, lines: this.lines };
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** True when the process has printed a line that no test has read. */
  get hasSpoken(): boolean {
    return this.lines.length > 0;
  }

  /** The next line of its output; `undefined` when it ends without one. */
  async line(): Promise<string | undefined> {
    if (this.lines.length === 0 && running.has(this))
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.lines.shift();
  }

  /** Writes a request to its input. */
  tell(what: unknown): void {
    this.child.stdin.write(`${JSON.stringify(what)}\n`);
  }

  /** Closes its input, so that it ends. */
  leave(): void {
    this.child.stdin.end();
  }

  /** Keeps the process after the test. Its owner kills it. */
  share(): void {
    shared.add(this);
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal);
  }
}
