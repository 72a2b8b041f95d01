import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { HoldfastError } from '../../errors.ts';
import { RunAbort } from '../../loop/stopping/abort.ts';
import { toErrorRecord, type ErrorRecord } from '../../state/values/error-record.ts';
import type { Advance, AdvanceOptions, AdvanceResult } from './engine.ts';
import { orphanGuard } from './orphan-guard.ts';

/** Options of `IsolatedProcess`. */
export interface IsolatedProcessOptions {
  /** Flags of Node.js for the process. Default: those of this process. */
  readonly execArgv?: readonly string[] | undefined;
  /** The environment variables of the process. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The number of seconds after which a process is killed that stands still: its event loop is blocked, or it closed the
   * channel to this process. When this process dies, the other one ends after so many seconds too, and after 30 at the
   * latest. Default: 60.
   */
  readonly silentSeconds?: number | undefined;
}

/** A message to the process: advance a session, or make the work on it yield. */
type Request = AdvanceRequest | { readonly type: 'yield'; readonly call: number };

interface AdvanceRequest {
  readonly type: 'advance';
  readonly call: number;
  readonly sessionId: string;
  readonly options: Pick<AdvanceOptions, 'maxSteps' | 'suspects'>;
  /** The milliseconds between two signs of life of the process. */
  readonly aliveEvery: number;
}

/** A message from the process: a sign of life, or a result. An error is a record, because messages are JSON. */
type Reply =
  | { readonly type: 'alive' }
  | { readonly type: 'result'; readonly call: number; readonly result: SentResult }
  | { readonly type: 'thrown'; readonly call: number; readonly error: ErrorRecord };

type SentResult = Omit<AdvanceResult, 'error'> & { readonly error?: ErrorRecord };

/** An advance that the process has not replied to. */
interface PendingAdvance {
  readonly sessionId: string;
  readonly resolve: (result: AdvanceResult) => void;
  readonly reject: (error: unknown) => void;
}

type ChildProcess = ReturnType<typeof forkProcess>;

const MODULE = {
  expected: 'a URL or a path, as in new URL("./isolated.js", import.meta.url)',
  accepts: (value: unknown) => value instanceof URL || (typeof value === 'string' && value !== ''),
};
const checkOptions = optionsCheck<IsolatedProcessOptions>('IsolatedProcess', {
  execArgv: mustBe.listOf('flags, as in ["--max-old-space-size=512"]', mustBe.string.accepts),
  env: mustBe.object,
  silentSeconds: mustBe.seconds,
});

const checkStopOptions = optionsCheck<{ readonly withinSeconds?: number | undefined }>(
  'IsolatedProcess.stop',
  {
    withinSeconds: mustBe.number(0, Number.MAX_VALUE),
  },
);

const STOP_SECONDS = 10;
const SILENT_SECONDS = 60;
/** How long the work of a process may take to yield when the process must end. */
const LEAVE_MS = 30_000;
/** How long the process may take to start. */
const START_MS = 60_000;

/**
 * A process of its own for sessions whose last worker died, perhaps because of them. If such a session ends its process
 * again, or blocks it, no other session is affected. The process starts with the first session, and again after each
 * death. Node.js only.
 *
 * @example
 * // worker.js
 * const isolated = new IsolatedProcess(new URL('./isolated.js', import.meta.url));
 * await engine.serve((id, options) => runtime.advance(id, options), { isolated: isolated.advance });
 *
 * // isolated.js
 * serveIsolated((id, options) => runtime.advance(id, options));
 */
export class IsolatedProcess {
  private readonly module: URL | string;
  private readonly options: IsolatedProcessOptions;
  private calls = 0;
  private child: Child | undefined;

  /**
   * @param module the program of the process. It calls `serveIsolated`.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
   */
  constructor(module: URL | string, options: IsolatedProcessOptions = {}) {
    this.module = checkArgument('module of IsolatedProcess', module, MODULE);
    this.options = checkOptions(options);
  }

  /**
   * Advances a session in the process.
   * @throws HoldfastError `ISOLATED_PROCESS_ENDED` when the process ends or stands still before it replies. An Error with
   * the message and the code of the error that its `advance` threw.
   */
  readonly advance: Advance = (sessionId, options) => {
    if (this.child?.hasEnded !== false) this.child = new Child(this.module, this.options);
    return this.child.advance(++this.calls, sessionId, options);
  };

  /**
   * Makes the work in the process yield, and ends the process, at the latest after `withinSeconds` (default: 10). Call it
   * after the engine has stopped. Resolves when the process has ended.
   */
  async stop(options: { readonly withinSeconds?: number | undefined } = {}): Promise<void> {
    const { withinSeconds = STOP_SECONDS } = checkStopOptions(options);
    await this.child?.stop(withinSeconds);
  }
}

/** One start of the process. */
class Child {
  hasEnded = false;
  private readonly pending = new Map<number, PendingAdvance>();
  private readonly process: ChildProcess;
  private readonly ended = Promise.withResolvers<void>();
  private readonly silentMilliseconds: number;
  private watch: ReturnType<typeof setTimeout> | undefined;
  private hasStarted = false;

  constructor(module: URL | string, options: IsolatedProcessOptions) {
    const { execArgv = process.execArgv, env, silentSeconds = SILENT_SECONDS } = options;
    this.silentMilliseconds = silentSeconds * 1_000;
    const guard = orphanGuard(Math.min(this.silentMilliseconds, LEAVE_MS));
    this.process = forkProcess(module, {
      execArgv: [...guard, ...execArgv],
      ...(env && { env }),
    });
    this.process.on('message', (reply: Reply) => this.receive(reply));
    this.process.on('error', (error) => this.end(error.message));
    this.process.on('disconnect', () => this.process.kill('SIGKILL'));
    this.process.on('exit', (code, signal) => this.end(signal ?? `exit code ${code}`));
  }

  async advance(
    call: number,
    sessionId: string,
    { signal, maxSteps, suspects }: AdvanceOptions = {},
  ): Promise<AdvanceResult> {
    const { promise, resolve, reject } = Promise.withResolvers<AdvanceResult>();
    this.pending.set(call, { sessionId, resolve, reject });
    setBusy(this.process);
    this.expectLife();
    const yieldWork = (): void => this.send({ type: 'yield', call });
    signal?.addEventListener('abort', yieldWork);
    try {
      const options = { maxSteps, suspects };
      this.send({ type: 'advance', call, sessionId, options, aliveEvery: this.silentMilliseconds / 4 });
      if (signal?.aborted) yieldWork();
      return await promise;
    } finally {
      signal?.removeEventListener('abort', yieldWork);
      this.pending.delete(call);
      if (this.pending.size === 0) this.rest();
    }
  }

  async stop(withinSeconds: number): Promise<void> {
    setBusy(this.process);
    this.process.kill('SIGTERM');
    const limit = setTimeout(() => this.process.kill('SIGKILL'), withinSeconds * 1_000);
    await this.ended.promise;
    clearTimeout(limit);
  }

  private send(request: Request): void {
    this.process.send(request, () => undefined); // a process that has ended is reported by `exit`
  }

  private receive(reply: Reply): void {
    this.hasStarted = true;
    if (this.pending.size > 0) this.expectLife();
    if (reply.type === 'alive') return;
    const { resolve, reject } = this.pending.get(reply.call) ?? {};
    if (reply.type === 'thrown') return reject?.(errorOf(reply.error));
    const { error, ...result } = reply.result;
    resolve?.(error === undefined ? result : { ...result, error: errorOf(error) });
  }

  /** Kills the process unless it gives a sign of life in time. */
  private expectLife(): void {
    const limit = this.hasStarted ? this.silentMilliseconds : START_MS;
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.process.kill('SIGKILL'), limit);
  }

  private rest(): void {
    clearTimeout(this.watch);
    setIdle(this.process);
  }

  private end(reason: string): void {
    this.hasEnded = true;
    for (const { sessionId, reject } of this.pending.values())
      reject(
        new HoldfastError(
          'ISOLATED_PROCESS_ENDED',
          `The isolated process ended (${reason}) while it worked on session "${sessionId}". The session is due when its claim ends.`,
          { data: { sessionId, reason } },
        ),
      );
    this.ended.resolve();
  }
}

/** Starts a process. `getBuiltinModule` replaces an import, so that core can be loaded where there are no processes. */
function forkProcess(module: URL | string, options: { execArgv: string[]; env?: NodeJS.ProcessEnv }) {
  return process.getBuiltinModule('node:child_process').fork(module, options);
}

/** Lets this process end while the child process has no work. */
function setIdle(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function setBusy(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}

/**
 * Serves the advances of an `IsolatedProcess`, in its program. When the process that started it ends, and after SIGTERM or
 * SIGINT, the work yields and this process ends: the sessions did not cause that end. A process that loads its modules, or
 * that blocks its event loop, ends after the process that started it too.
 */
export function serveIsolated(advance: Advance): void {
  checkArgument('advance', advance, mustBe.function);
  const served = new ServedAdvances(advance);
  process.on('disconnect', () => served.leave());
  if (process.send && !process.connected) served.leave(); // the parent has died meanwhile
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => served.leave());
  process.on('message', (request: Request) => served.receive(request));
}

class ServedAdvances {
  private readonly advance: Advance;
  private readonly controllers = new Map<number, AbortController>();
  private isLeaving = false;
  private beat: ReturnType<typeof setInterval> | undefined;

  constructor(advance: Advance) {
    this.advance = advance;
  }

  receive(request: Request): void {
    if (request.type === 'yield') return this.controllers.get(request.call)?.abort(new RunAbort('yield'));
    this.beat ??= setInterval(() => void reply({ type: 'alive' }), request.aliveEvery).unref();
    void this.serve(request);
  }

  /** Makes the work yield, and ends the process after it, at the latest after some seconds. */
  leave(): void {
    this.isLeaving = true;
    setTimeout(() => process.exit(), LEAVE_MS).unref();
    for (const controller of this.controllers.values()) controller.abort(new RunAbort('yield'));
    this.endWhenIdle();
  }

  private async serve({ call, sessionId, options }: AdvanceRequest): Promise<void> {
    const controller = new AbortController();
    this.controllers.set(call, controller);
    if (this.isLeaving) controller.abort(new RunAbort('yield'));
    try {
      const { error, ...result } = await this.advance(sessionId, { ...options, signal: controller.signal });
      const sent = error === undefined ? result : { ...result, error: toErrorRecord(error) };
      await reply({ type: 'result', call, result: sent });
    } catch (thrown) {
      await reply({ type: 'thrown', call, error: toErrorRecord(thrown) });
    } finally {
      this.controllers.delete(call);
      this.endWhenIdle();
    }
  }

  private endWhenIdle(): void {
    if (this.isLeaving && this.controllers.size === 0) process.exit();
  }
}

/** Sends a message, and resolves when it was sent or the channel is closed. */
function reply(message: Reply): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

function errorOf({ message, code }: ErrorRecord): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}
