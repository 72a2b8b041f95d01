import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { HoldfastError } from '../../errors.ts';
import { RunAbort } from '../../loop/stopping/abort.ts';
import type { ErrorRecord } from '../../state/values/error-record.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import type { Advance, AdvanceOptions, AdvanceResult } from './engine.ts';

/** Options of `IsolatedProcess`. */
export interface IsolatedProcessOptions {
  /** Flags of Node.js for the process. Default: those of this process. */
  readonly execArgv?: readonly string[] | undefined;
  /** The environment variables of the process. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A message to the process: advance a session, or make the work on it yield. */
type Request = AdvanceRequest | { readonly type: 'yield'; readonly call: number };

interface AdvanceRequest {
  readonly type: 'advance';
  readonly call: number;
  readonly sessionId: string;
  readonly options: Omit<AdvanceOptions, 'signal'>;
}

/** A message from the process. The error of an advance is a record, because no error survives the way. */
type Reply = { readonly call: number } & (
  | { readonly result: AdvanceResult & { readonly error?: ErrorRecord } }
  | { readonly thrown: ErrorRecord }
);

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
  execArgv: mustBe.anything,
  env: mustBe.object,
});

/**
 * A process of its own for sessions whose last worker died, perhaps because of them. If such a session ends its process
 * again, no other session is affected. The process starts with the first session, and again after each death. Node.js
 * only.
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
  private readonly pending = new Map<number, PendingAdvance>();
  private calls = 0;
  private child: ChildProcess | undefined;

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
   * @throws HoldfastError `ISOLATED_PROCESS_ENDED` when the process ends before it replies; the error of its `advance`.
   */
  readonly advance: Advance = async (sessionId, { signal, ...options } = {}) => {
    const child = (this.child ??= this.start());
    setBusy(child);
    const call = ++this.calls;
    const { promise, resolve, reject } = Promise.withResolvers<AdvanceResult>();
    this.pending.set(call, { sessionId, resolve, reject });
    const send = (request: Request): void => void child.send(request, () => undefined);
    const yieldWork = (): void => send({ type: 'yield', call });
    send({ type: 'advance', call, sessionId, options });
    if (signal?.aborted) yieldWork();
    signal?.addEventListener('abort', yieldWork);
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', yieldWork);
      this.pending.delete(call);
      if (this.pending.size === 0) setIdle(child);
    }
  };

  /** Ends the process. Call it after the engine has stopped. */
  async stop(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    setBusy(child);
    child.kill();
    await ended;
  }

  private start(): ChildProcess {
    const { execArgv, env } = this.options;
    const child = forkProcess(this.module, {
      ...(execArgv && { execArgv: [...execArgv] }),
      ...(env && { env }),
    });
    child.on('message', (reply: Reply) => this.settle(reply));
    child.on('error', (error) => this.fail(child, error.message));
    child.on('exit', (code, signal) => this.fail(child, signal ?? `exit code ${code}`));
    return child;
  }

  private settle(reply: Reply): void {
    const { resolve, reject } = this.pending.get(reply.call) ?? {};
    if ('thrown' in reply) return reject?.(errorOf(reply.thrown));
    const { error, ...result } = reply.result;
    resolve?.(error === undefined ? result : { ...result, error: errorOf(error) });
  }

  private fail(child: ChildProcess, reason: string): void {
    if (this.child === child) this.child = undefined;
    for (const { sessionId, reject } of this.pending.values())
      reject(
        new HoldfastError(
          'ISOLATED_PROCESS_ENDED',
          `The isolated process ended (${reason}) while it worked on session "${sessionId}". The session is due when its claim ends.`,
          { data: { sessionId, reason } },
        ),
      );
    this.pending.clear();
  }
}

/** Starts a process. `getBuiltinModule` replaces an import, so that core can be loaded where there are no processes. */
function forkProcess(module: URL | string, options: { execArgv?: string[]; env?: NodeJS.ProcessEnv }) {
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
 * Serves the advances of an `IsolatedProcess`, in its program. When the process that started it ends, the work yields and
 * this process ends: the sessions did not cause that end.
 */
export function serveIsolated(advance: Advance): void {
  checkArgument('advance', advance, mustBe.function);
  const controllers = new Map<number, AbortController>();
  const reply = (message: Reply): void => void (process.connected && process.send?.(message));
  const endWhenIdle = (): void => {
    if (!process.connected && controllers.size === 0) process.exit();
  };
  process.on('disconnect', () => {
    for (const controller of controllers.values()) controller.abort(new RunAbort('yield'));
    endWhenIdle();
  });
  process.on('message', (request: Request) => {
    if (request.type === 'advance') void serveCall(request);
    else controllers.get(request.call)?.abort(new RunAbort('yield'));
  });

  async function serveCall({ call, sessionId, options }: AdvanceRequest): Promise<void> {
    const controller = new AbortController();
    controllers.set(call, controller);
    try {
      const { error, ...result } = await advance(sessionId, { ...options, signal: controller.signal });
      reply({ call, result: error === undefined ? result : { ...result, error: toErrorRecord(error) } });
    } catch (thrown) {
      reply({ call, thrown: toErrorRecord(thrown) });
    } finally {
      controllers.delete(call);
      endWhenIdle();
    }
  }
}

function errorOf({ message, code }: ErrorRecord): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}
