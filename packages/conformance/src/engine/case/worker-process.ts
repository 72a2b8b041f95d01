import process from 'node:process';
import {
  checkArgument,
  mustBe,
  type Advance,
  type AdvanceResult,
  type EngineWorker,
  type ExecutionEngine,
} from '@holdfast/core/engine';
import type { WorkerOrder, WorkerReport } from './worker-messages.ts';

/**
 * Connects an engine in this process with the case in the parent process: the case wakes sessions, starts workers, and
 * returns the results of their advances. Call it once, in the program that the ability `processes` starts.
 * @throws TypeError `ARGUMENT_INVALID` for an engine without `wake` or `serve`. Error when the process was not forked.
 */
export function runWorkerProcess(engine: ExecutionEngine): void {
  checkArgument('engine', engine, mustBe.objectWith('an engine', ['wake', 'serve']));
  if (process.send === undefined) throw new Error('Start this program with fork() of node:child_process.');
  const channel = new Channel(engine);
  process.on('message', (order: WorkerOrder) => void channel.obey(order));
  process.on('disconnect', () => process.exit());
  report({ type: 'ready' });
}

class Channel {
  private readonly engine: ExecutionEngine;
  private readonly results = new Map<number, (result: AdvanceResult) => void>();
  private looks = 0;
  private served: EngineWorker | undefined;

  constructor(engine: ExecutionEngine) {
    this.engine = engine;
  }

  async obey(order: WorkerOrder): Promise<void> {
    if (order.type === 'result') return this.results.get(order.look)?.(order.result);
    const { number } = order;
    const error = await this.act(order).catch(describe);
    report({ type: 'done', number, ...(error !== undefined && { error }) });
  }

  private async act(order: Exclude<WorkerOrder, { type: 'result' }>): Promise<void> {
    if (order.type === 'stop') return this.served?.stop({ withinSeconds: order.withinSeconds });
    if (order.type === 'serve') {
      this.served = await this.engine.serve(this.advance, { concurrency: order.concurrency });
      return;
    }
    await this.engine.wake(order.sessionId, order.options);
    if (order.dies) process.kill(process.pid, 'SIGKILL');
  }

  private readonly advance: Advance = (sessionId, { signal } = {}) => {
    const look = this.looks++;
    report({ type: 'look', look, sessionId });
    signal?.addEventListener('abort', () => report({ type: 'aborted', look }));
    return new Promise((resolve) => this.results.set(look, resolve));
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'The engine threw a value that is not an error.';
}

function report(message: WorkerReport): void {
  process.send?.(message);
}
