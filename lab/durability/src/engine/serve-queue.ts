import { setTimeout as pause } from 'node:timers/promises';
import { HoldfastError, type SessionDirectory } from '@holdfast/core';
import { sweep, type Advance } from '@holdfast/core/engine';
import type { BullmqEngine } from '@holdfast/runner-bullmq';

/** The options of a worker of a queue. */
export interface QueueServing {
  readonly engine: BullmqEngine;
  readonly store: SessionDirectory;
  readonly advance: Advance;
  readonly isolated?: Advance | undefined;
  readonly concurrency: number;
  /** Seconds between two sweeps: the engine does the work, and a sweep finds sessions whose wake-up was dropped. */
  readonly sweepSeconds: number;
  /** Seconds that the worker waits for its tools when it stops. */
  readonly stopSeconds: number;
  /** Receives the errors of the work and of the queue. Default: they are printed. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Called when the worker serves. */
  readonly onReady?: (() => void) | undefined;
}

/** Works on the sessions of a queue until the signal aborts, or until SIGTERM. Then it closes the engine. */
export async function serveQueue(
  { engine, store, sweepSeconds, stopSeconds, onReady, advance, ...options }: QueueServing,
  signal: AbortSignal,
): Promise<void> {
  const terminated = new AbortController();
  process.once('SIGTERM', () => terminated.abort());
  const leaving = AbortSignal.any([signal, terminated.signal]);
  const served = await engine.serve(advance, { onError: (error) => console.error(error), ...options });
  onReady?.();
  while (!leaving.aborted) {
    await sweep(store, engine, { againAfterSeconds: sweepSeconds, signal: leaving }).catch(ignoreOutage);
    await pause(sweepSeconds * 1_000, undefined, { signal: leaving }).catch(() => undefined);
  }
  await served.stop({ withinSeconds: stopSeconds });
  await engine.close();
}

/** Ignores that the server of the queue is down: the next sweep finds the sessions. @throws any other error. */
export function ignoreOutage(error: unknown): void {
  if (!(error instanceof HoldfastError) || error.code !== 'QUEUE_UNAVAILABLE') throw error;
}
