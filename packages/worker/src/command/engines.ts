import { InProcessEngine } from '@holdfast/core';
import { PollingEngine } from '@holdfast/core/engine';
import type { SessionStore } from '@holdfast/core';
import type { SessionChannel } from '@holdfast/core/channel';
import { errorFields } from '../log.ts';
import type { Log } from '../log.ts';
import type { WorkerEngine } from '../start-worker.ts';
import { InputError } from './input-error.ts';
import { withPackages } from './optional-package.ts';
import type { Settings } from './settings.ts';

/** An engine that the command opened, and closes. */
export interface OpenEngine {
  readonly engine: WorkerEngine;
  /** The seconds between two sweeps, unless the user sets them; `false` for none. */
  readonly sweepSeconds: number | false;
  readonly close: () => Promise<void>;
}

/** The values that an engine needs beside the settings. */
export interface EngineParts {
  readonly store: SessionStore;
  readonly channel: SessionChannel | undefined;
  /** The options that the module of the agents exports. */
  readonly options: object | undefined;
  readonly log: Log;
}

const BULLMQ = ['@holdfast/runner-bullmq', 'bullmq', 'ioredis'];
/** A message that another process enqueued waits for the next sweep of an engine in memory. */
const IN_PROCESS_SWEEP_SECONDS = 1;
const SWEEP_SECONDS = 60;

/** Opens an engine. @throws InputError for a missing package or queue; what the engine throws. */
export async function openEngine(settings: Settings, parts: EngineParts): Promise<OpenEngine> {
  if (settings.engine === 'bullmq') return openBullmq(settings, parts);
  if (settings.engine === 'polling') return openPolling(parts);
  const engine = new InProcessEngine(parts.options);
  return { engine, sweepSeconds: IN_PROCESS_SWEEP_SECONDS, close: async () => undefined };
}

async function openBullmq(
  { store, queue = store }: Settings,
  { options, log }: EngineParts,
): Promise<OpenEngine> {
  if (!/^rediss?:\/\//i.test(queue))
    throw new InputError('The engine bullmq needs a Redis server. Pass --queue redis://HOST:PORT.');
  const { BullmqEngine } = await withPackages(
    'The engine bullmq',
    BULLMQ,
    () => import('@holdfast/runner-bullmq'),
  );
  const engine = new BullmqEngine({
    onWarning: (warning: string) => log('warn', warning),
    onError: (error: unknown) => log('error', 'The connection of the queue failed.', errorFields(error)),
    ...options,
    connection: { url: queue },
  });
  return { engine, sweepSeconds: SWEEP_SECONDS, close: () => engine.close() };
}

/** The store is the queue of this engine, so it needs no sweep. */
function openPolling({ store, channel, options }: EngineParts): OpenEngine {
  const engine = new PollingEngine({ ...options, store, ...(channel && { channel }) });
  return { engine, sweepSeconds: false, close: async () => undefined };
}
