import { InProcessEngine, type SessionDirectory } from '@holdfast/core';
import { PollingEngine } from '@holdfast/core/engine';
import type { SessionChannel } from '@holdfast/core/channel';
import { errorFields, type Log } from '../serve/log.ts';
import type { WorkerEngine } from '../serve/worker-engine.ts';
import { InputError } from './input-error.ts';
import { withPackages } from './optional-package.ts';
import type { Settings } from './settings.ts';

/** An engine that the command opened, and closes. */
export interface OpenEngine {
  readonly engine: WorkerEngine;
  readonly close: () => Promise<void>;
}

/** The values that an engine needs beside the settings. */
export interface EngineParts {
  readonly store: SessionDirectory;
  readonly channel: SessionChannel | undefined;
  /** The options that the module of the agents exports. */
  readonly options: object | undefined;
  readonly log: Log;
}

const BULLMQ = ['@holdfast/runner-bullmq', 'bullmq', 'ioredis'];

/** Opens an engine. @throws InputError for a missing package or queue; what the engine throws. */
export async function openEngine(settings: Settings, parts: EngineParts): Promise<OpenEngine> {
  if (settings.engine === 'bullmq') return openBullmq(settings, parts);
  if (settings.engine === 'polling') return openPolling(parts);
  const engine = new InProcessEngine(parts.options);
  return { engine, close: async () => undefined };
}

async function openBullmq(
  { store, queue = store }: Settings,
  { options, log }: EngineParts,
): Promise<OpenEngine> {
  const hasConnection = options !== undefined && 'connection' in options;
  if (!hasConnection && !/^rediss?:\/\//i.test(queue))
    throw new InputError('The engine bullmq needs a Redis server. Pass --queue redis://HOST:PORT.');
  const { BullmqEngine } = await withPackages(
    'The engine bullmq',
    BULLMQ,
    () => import('@holdfast/runner-bullmq'),
  );
  const engine = new BullmqEngine({
    onWarning: (warning: string) => log('warn', warning),
    onError: (error: unknown) => log('error', 'The connection of the queue failed.', errorFields(error)),
    connection: { url: queue },
    storeName: withoutSecrets(store),
    ...options,
  });
  return { engine, close: () => engine.close() };
}

/** Returns a URL without its user, password and parameters. */
function withoutSecrets(store: string): string {
  if (!URL.canParse(store)) return store;
  const { protocol, host, pathname } = new URL(store);
  return `${protocol}//${host}${pathname}`;
}

/** The store is the queue of this engine, so it needs no sweep. */
function openPolling({ store, channel, options }: EngineParts): OpenEngine {
  const engine = new PollingEngine({ ...options, store, ...(channel && { channel }) });
  return { engine, close: async () => undefined };
}
