import type { AdvanceResult, WakeOptions } from '@holdfast/core/engine';

/** A process that runs `runWorkerProcess`, as `fork` of `node:child_process` returns it. */
export interface WorkerProcess {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
  /** Sends a message, as JSON. */
  send(message: object): unknown;
  /** False after the process has ended. */
  readonly connected: boolean;
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): unknown;
}

/** A message to a worker process. The process answers each numbered order. */
export type WorkerOrder =
  | { readonly type: 'serve'; readonly number: number; readonly concurrency: number | undefined }
  | { readonly type: 'stop'; readonly number: number; readonly withinSeconds: number | undefined }
  | WakeOrder
  | { readonly type: 'result'; readonly look: number; readonly result: AdvanceResult };

/** With `dies`, the process kills itself by SIGKILL as soon as `wake` has resolved. */
interface WakeOrder {
  readonly type: 'wake';
  readonly number: number;
  readonly sessionId: string;
  readonly options: WakeOptions;
  readonly dies: boolean;
}

/** A message of a worker process. */
export type WorkerReport =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly number: number; readonly error?: string }
  | { readonly type: 'look'; readonly look: number; readonly sessionId: string }
  | { readonly type: 'aborted'; readonly look: number };
