import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineHarness, EngineUnderTest } from '@holdfast/conformance';
import { BullmqEngine, type BullmqConnection, type BullmqEngineOptions } from '@holdfast/runner-bullmq';

/** Worker processes start faster with compiled code of their last start. */
const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'holdfast-compile-cache') };

/**
 * Times in seconds: short, so that tests see the recovery of sessions soon, and long enough for a busy machine, on which a
 * lock of two seconds ends before its renewal.
 */
export const TIMES = { lockSeconds: 4, stalledSeconds: 1 };

const ignore = (): void => undefined;

/** Opens an engine for tests. The servers of tests have no persistence. */
export function openEngine(
  connection: BullmqConnection,
  options: Partial<BullmqEngineOptions> = {},
): EngineUnderTest & { readonly engine: BullmqEngine } {
  const engine = new BullmqEngine({ connection, ...TIMES, onWarning: ignore, onError: ignore, ...options });
  return { engine, close: () => engine.close() };
}

/** Worker processes have the defect. Engines of worker processes have no `groupConcurrency`. */
export interface HarnessOptions {
  readonly defect?: string;
  readonly groupConcurrency?: number;
}

/** The harness of engines on a server. Each case has a queue of its own. */
export function bullmqHarness(
  connection: BullmqConnection,
  { defect = '', groupConcurrency }: HarnessOptions = {},
): EngineHarness {
  let name = '';
  const worker = new URL('worker.ts', import.meta.url);
  return {
    async create() {
      name = `test-${randomUUID()}`;
      return openEngine(connection, { name, groupConcurrency });
    },
    reopen: async () => openEngine(connection, { name, groupConcurrency }),
    processes: () => fork(worker, [JSON.stringify({ connection, name, defect })], { env }),
    lockSeconds: TIMES.lockSeconds + 2 * TIMES.stalledSeconds,
    turnMilliseconds: 10,
    waitSeconds: 300, // for what hangs: a busy machine needs ten times as long
    limitSeconds: 600,
  };
}
