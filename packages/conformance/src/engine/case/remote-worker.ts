import assert from 'node:assert/strict';
import { RunAbort } from '@holdfast/core';
import type { Advance, WakeOptions } from '@holdfast/core/engine';
import { SUSPENDED, type Act, type RecordedAdvances } from './recorded-advances.ts';
import type { WorkerOrder, WorkerProcess, WorkerReport } from './worker-messages.ts';

/** An order before it has a number. */
type Unnumbered<T> = T extends { readonly number: number } ? Omit<T, 'number'> : never;

/** Returns the promise. Its rejection is not unhandled, even if no case awaits it. */
function handled<T>(promise: Promise<T>): Promise<T> {
  void promise.catch(() => undefined);
  return promise;
}

/** An engine in another process. Its advances run in this process, and are recorded here. */
export class RemoteWorker {
  /** Resolves when the process has created its engine. Rejects when the process ends before. */
  readonly isReady: Promise<void>;
  private readonly child: WorkerProcess;
  private readonly advances: RecordedAdvances;
  private readonly ready = Promise.withResolvers<void>();
  private readonly exited = Promise.withResolvers<string | null>();
  /** Resolves when the process does not run any more, for the records. */
  private halted = Promise.withResolvers<void>();
  private readonly orders = new Map<number, PromiseWithResolvers<void>>();
  private readonly aborts = new Map<number, AbortController>();
  private advance: Advance;
  private sent = 0;

  constructor(child: WorkerProcess, advances: RecordedAdvances) {
    this.child = child;
    this.advances = advances;
    this.isReady = handled(this.ready.promise);
    this.advance = this.recorded(async () => SUSPENDED);
    child.on('message', (message) => this.hear(message as WorkerReport));
    child.on('error', () => undefined); // a message to a process that has died
    child.on('exit', (code, signal) => this.end(`The worker process ended with ${signal ?? code}.`, signal));
  }

  wake(sessionId: string, options: WakeOptions = {}): Promise<void> {
    return this.order({ type: 'wake', sessionId, options, dies: false });
  }

  /** Wakes a session. The process kills itself as soon as the engine's `wake` has resolved. */
  async wakeAndDie(sessionId: string, options: WakeOptions = {}): Promise<void> {
    const error: unknown = await this.order({ type: 'wake', sessionId, options, dies: true }).catch(
      (thrown: unknown) => thrown,
    );
    assert.equal(await this.exited.promise, 'SIGKILL', String(error));
  }

  serve(act: Act = async () => SUSPENDED, concurrency?: number): Promise<void> {
    this.advance = this.recorded(act);
    return this.order({ type: 'serve', concurrency });
  }

  stop(withinSeconds?: number): Promise<void> {
    return this.order({ type: 'stop', withinSeconds });
  }

  /** Kills the process with SIGKILL. Its advances have ended. */
  kill(): void {
    this.child.kill('SIGKILL');
    this.halted.resolve();
  }

  /** Stops the process with SIGSTOP, as a blocked event loop does. For the records, its advances have ended. */
  freeze(): void {
    this.child.kill('SIGSTOP');
    this.halted.resolve();
  }

  /** Continues a frozen process. */
  thaw(): void {
    this.halted = Promise.withResolvers<void>();
    this.child.kill('SIGCONT');
  }

  /** Records an advance. For the records it ends when the process halts. */
  private recorded(act: Act): Advance {
    return async (sessionId, options) => {
      const halted = this.halted.promise;
      let result = Promise.resolve(SUSPENDED);
      await this.advances.by((look) => {
        result = act(look);
        return Promise.race([result, halted.then(() => SUSPENDED)]);
      })(sessionId, options);
      return result;
    };
  }

  private order(order: Unnumbered<WorkerOrder>): Promise<void> {
    const number = this.sent++;
    const answer = Promise.withResolvers<void>();
    this.orders.set(number, answer);
    this.send({ ...order, number });
    return handled(answer.promise);
  }

  private hear(message: WorkerReport): void {
    if (message.type === 'ready') this.ready.resolve();
    else if (message.type === 'look') void this.look(message.look, message.sessionId);
    else if (message.type === 'aborted') this.aborts.get(message.look)?.abort(new RunAbort('yield'));
    else if (message.error === undefined) this.orders.get(message.number)?.resolve();
    else this.orders.get(message.number)?.reject(new Error(message.error));
  }

  private async look(look: number, sessionId: string): Promise<void> {
    const abort = new AbortController();
    this.aborts.set(look, abort);
    const result = await this.advance(sessionId, { signal: abort.signal });
    if (this.child.connected) this.send({ type: 'result', look, result });
  }

  private send(order: WorkerOrder): void {
    this.child.send(order);
  }

  private end(message: string, signal: string | null): void {
    const error = new Error(message);
    this.ready.reject(error);
    for (const { reject } of this.orders.values()) reject(error);
    this.halted.resolve();
    this.exited.resolve(signal);
  }
}
