import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, inject } from 'vitest';
import type { Protection } from '../src/removals.ts';

/** Where a worker works, and what it suffers. */
export interface WorkerInit {
  readonly store: string;
  readonly location: string;
  readonly journal: string;
  /** As `faultText` makes it. */
  readonly fault?: string | undefined;
  readonly without?: Protection | undefined;
  /** Milliseconds that things take. */
  readonly pace?: number | undefined;
  readonly leaseSeconds?: number | undefined;
  /** The location of the queue of its engine. Default: the engine in the memory of the process. */
  readonly queue?: string | undefined;
  /** Seconds between the sweeps of a worker with a queue. Default: 5. */
  readonly sweepSeconds?: number | undefined;
  /** A file: while it exists, the provider refuses all calls. Default: there is none. */
  readonly outageFile?: string | undefined;
  /** The processes that a session may kill. Default: 1,000. */
  readonly maxAttempts?: number | undefined;
  /** Seconds that a worker with a queue waits for its tools when it stops. Default: 10. */
  readonly stopSeconds?: number | undefined;
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
/** Those that several tests share. */
const shared = new Set<WorkerProcess>();

afterEach(() => {
  for (const worker of running) if (!shared.has(worker)) worker.kill();
});

/** A process of the worker program. One that a test leaves is killed. */
export class WorkerProcess {
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: string[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(init: WorkerInit, ...args: readonly string[]) {
    const { store, location, journal, fault = '', without = '', pace = 0, leaseSeconds = 0.4 } = init;
    const { program = inject('worker'), queue = '', sweepSeconds = 5, stopSeconds = 10 } = init;
    const { outageFile = '', maxAttempts = 1_000 } = init;
    const settings = { STORE: store, LOCATION: location, JOURNAL: journal, FAULT: fault, WITHOUT: without };
    const numbers = { PACE: String(pace), LEASE_SECONDS: String(leaseSeconds) };
    const engine = { ENGINE: queue && 'bullmq', QUEUE: queue };
    const limits = { OUTAGE_FILE: outageFile, MAX_ATTEMPTS: String(maxAttempts) };
    const times = { SWEEP_SECONDS: String(sweepSeconds), STOP_SECONDS: String(stopSeconds) };
    const env = {
      ...process.env,
      ...settings,
      ...numbers,
      ...engine,
      ...times,
      ...limits,
      NODE_OPTIONS: '',
      NODE_COMPILE_CACHE: dirname(program),
    };
    this.child = spawn(process.execPath, ['--no-warnings', program, ...args], { env });
    running.add(this);
    // A process that has died says why in its complaints; that nobody reads what is written to it says nothing more.
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

  /** Has it said anything yet that nobody has read? */
  get hasSpoken(): boolean {
    return this.lines.length > 0;
  }

  /** The next line that it says; `undefined` when it ends without one. */
  async line(): Promise<string | undefined> {
    if (this.lines.length === 0 && running.has(this))
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.lines.shift();
  }

  /** Tells it something. */
  tell(what: unknown): void {
    this.child.stdin.write(`${JSON.stringify(what)}\n`);
  }

  /** Tells it that there is no more to do. */
  leave(): void {
    this.child.stdin.end();
  }

  /** Lets it live on after the test. Its owner kills it. */
  share(): void {
    shared.add(this);
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal);
  }
}
