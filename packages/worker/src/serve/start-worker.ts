import { InProcessEngine, type SessionRuntime, type SessionDirectory } from '@holdfast/core';
import {
  metricsText,
  mustBe,
  optionsCheck,
  sweep,
  type Advance,
  type EngineWorker,
} from '@holdfast/core/engine';
import { setTimeout as pause } from 'node:timers/promises';
import { serveHttp, type WorkerServer } from './http-server.ts';
import { errorFields, type Log } from './log.ts';
import { Probe, type Health } from './probe.ts';
import type { WorkerEngine } from './worker-engine.ts';

/** The options of `startWorker`. */
export interface WorkerOptions {
  /** Works on the sessions. */
  readonly runtime: SessionRuntime;
  /** The store of the runtime, with the sessions of all owners. */
  readonly store: SessionDirectory;
  /** Default: a new `InProcessEngine`. */
  readonly engine?: WorkerEngine | undefined;
  /** The number of sessions that the worker works on at the same time; default 8. */
  readonly concurrency?: number | undefined;
  /**
   * The seconds between two sweeps, which wake the sessions that are due; `false` for none. Default: `sweepSeconds` of the
   * engine, which is 1 for an `InProcessEngine` and none for a `PollingEngine`; else 60.
   */
  readonly sweepSeconds?: number | false | undefined;
  /** Advances suspect sessions in a process of its own, such as `advance` of an `IsolatedProcess`. */
  readonly isolated?: Advance | undefined;
  /** The port of the health checks and metrics; 0 for any free port. Default: no HTTP server. */
  readonly port?: number | undefined;
  /** The address of the HTTP server. Default: `127.0.0.1`, for this machine only. `0.0.0.0` is for all machines. */
  readonly host?: string | undefined;
  /**
   * The host names by which clients call the HTTP server, such as `['worker']` in Docker Compose. Requests with other names
   * have the status 421. IP addresses, `localhost` and `host` are always allowed.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Receives the log of the worker. Default: errors are written with `console.error`. */
  readonly log?: Log | undefined;
}

/** A worker that was started. */
export interface StartedWorker {
  /** The port of the HTTP server; `undefined` without one. */
  readonly port: number | undefined;
  /** The engine that the worker serves. */
  readonly engine: WorkerEngine;
  /**
   * Stops the worker: it is no longer ready, starts no more work, and makes the current work yield. Resolves when the work
   * has yielded, or after `withinSeconds` (default: no limit). Closes the HTTP server, and leaves the store open.
   */
  stop(options?: { readonly withinSeconds?: number | undefined }): Promise<void>;
}

const checkOptions = optionsCheck<WorkerOptions>('startWorker', {
  runtime: mustBe.required(mustBe.objectWith('a SessionRuntime', ['advance', 'announce'])),
  store: mustBe.required(
    mustBe.objectWith('the session store of the runtime, with the sessions of all owners', [
      'due',
      'takeDue',
      'announce',
    ]),
  ),
  engine: mustBe.objectWith('an engine', ['wake', 'serve']),
  concurrency: mustBe.wholeNumber(1),
  sweepSeconds: {
    expected: 'a number of seconds above 0, or false',
    accepts: (value) => value === false || mustBe.seconds.accepts(value),
    type: 'number',
  },
  isolated: mustBe.function,
  port: mustBe.wholeNumber(0, 65_535),
  host: mustBe.string,
  allowedHosts: mustBe.listOf("names, as in ['worker']", mustBe.string.accepts),
  log: mustBe.function,
});

/**
 * Starts a worker in this process: serves the engine, sweeps again and again, announces the worker in the store, and
 * answers health checks.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value; what the store throws for
 * the announcement; the error of `listen` for the port.
 */
export async function startWorker(options: WorkerOptions): Promise<StartedWorker> {
  const worker = new Worker(checkOptions(options));
  await worker.start();
  return worker;
}

const SWEEP_SECONDS = 60;
/** The longest time that a stop waits for the store: for the sweep, and for the end of the announcements. */
const END_SECONDS = 5;

class Worker implements StartedWorker {
  readonly engine: WorkerEngine;
  private readonly options: WorkerOptions;
  private readonly log: Log;
  private readonly probe: Probe;
  private sweeping = Promise.resolve();
  private readonly stopController = new AbortController();
  private engineWorker: EngineWorker | undefined;
  private server: WorkerServer | undefined;
  private endAnnouncements: (() => Promise<void>) | undefined;

  constructor(options: WorkerOptions) {
    const { engine = new InProcessEngine(), store, log = logErrors } = options;
    this.options = options;
    this.engine = engine;
    this.log = log;
    this.probe = new Probe(store, engine);
  }

  get port(): number | undefined {
    return this.server?.port;
  }

  async start(): Promise<void> {
    const { runtime, store, port, host, allowedHosts, concurrency, isolated } = this.options;
    if (port !== undefined) this.server = await serveHttp(this, { port, host, allowedHosts });
    try {
      this.endAnnouncements = await runtime.announce(store);
      this.engineWorker = await this.engine.serve(
        (id, advanceOptions) => runtime.advance(id, advanceOptions),
        {
          concurrency,
          isolated,
          onError: (error, sessionId) => this.logError(error, sessionId),
        },
      );
    } catch (error) {
      this.server?.close();
      await this.endAnnouncements?.();
      throw error;
    }
    this.sweeping = this.sweepRepeatedly();
    this.log('info', 'The worker serves.', this.port === undefined ? {} : { port: this.port });
  }

  async stop({ withinSeconds }: { readonly withinSeconds?: number | undefined } = {}): Promise<void> {
    this.stopController.abort();
    await this.engineWorker?.stop(withinSeconds === undefined ? {} : { withinSeconds });
    const { sessionsInWork = 0 } = this.engine.metrics?.() ?? {};
    if (sessionsInWork > 0)
      this.log('warn', 'The time to stop is over. Other workers resume the sessions.', { sessionsInWork });
    const ended = Promise.all([this.sweeping, this.endAnnouncements?.()]);
    const late = pause(END_SECONDS * 1_000, undefined, { ref: false }); // the store may be away
    await Promise.race([ended, late]).catch((error: unknown) => this.logError(error, undefined));
    this.server?.close();
  }

  async readiness(): Promise<{ readonly reason?: string | undefined; readonly backlogSeconds?: number }> {
    const { reason, backlogSeconds } = await this.look();
    return { reason, ...(backlogSeconds !== undefined && { backlogSeconds }) };
  }

  async metrics(): Promise<string> {
    const { reason, backlogSeconds, backlog } = await this.look();
    const own = [
      gauge('ready', '1 when the worker is ready.', reason === undefined ? 1 : 0),
      ...(backlogSeconds === undefined
        ? []
        : [gauge('backlog_seconds', 'How long the longest waiting session has been due.', backlogSeconds)]),
    ];
    const metrics = this.engine.metrics?.();
    return `${metrics === undefined ? '' : metricsText(metrics, { backlog })}${own.join('')}`;
  }

  private async look(): Promise<Health> {
    if (this.stopController.signal.aborted) return { reason: 'The worker stops.' };
    if (this.engineWorker === undefined) return { reason: 'The worker starts.' };
    return this.probe.look();
  }

  private async sweepRepeatedly(): Promise<void> {
    const { store, sweepSeconds = this.engine.sweepSeconds ?? SWEEP_SECONDS } = this.options;
    if (sweepSeconds === false) return;
    const { signal } = this.stopController;
    const againAfterSeconds = Math.min(60, sweepSeconds * 10);
    let hasFailed = false;
    while (!signal.aborted) {
      try {
        const { woken } = await sweep(store, this.engine, { signal, againAfterSeconds });
        if (woken > 0) this.log('debug', 'The sweep woke sessions.', { woken });
        if (hasFailed) this.log('info', 'The sweep succeeds again.');
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) this.log('error', 'The sweep failed. It is repeated.', errorFields(error));
        hasFailed = true;
      }
      await pause(sweepSeconds * 1_000, undefined, { signal }).catch(() => undefined);
    }
  }

  private logError(error: unknown, sessionId: string | undefined): void {
    const message = sessionId === undefined ? 'The engine failed.' : 'The work on a session failed.';
    this.log('error', message, { ...(sessionId !== undefined && { sessionId }), ...errorFields(error) });
  }
}

function gauge(name: string, help: string, value: number): string {
  const fullName = `holdfast_worker_${name}`;
  return `# HELP ${fullName} ${help}\n# TYPE ${fullName} gauge\n${fullName} ${value}\n`;
}

const logErrors: Log = (level, message, fields) => {
  // oxlint-disable-next-line no-console -- an error must not be lost when the caller passes no `log`
  if (level === 'error') console.error(message, fields);
};
