import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PollingEngine } from '@holdfast/core/engine';
import { median } from '../measure.ts';
import { machine } from '../process.ts';
import { inUnit, reportTable } from '../report.ts';
import { startRedis } from '../stores/redis-server.ts';
import {
  AGENT,
  newRuntime,
  openPollingPlace,
  STEPS,
  type PollingParts,
  type PollingPlace,
} from './polling-agent.ts';
import { PollingWorkers } from './polling-workers.ts';

export interface PollingBenchOptions {
  readonly isQuick: boolean;
}

const WORKERS = [1, 4, 16, 32];
const IDLE_SECONDS = 5;

interface Amounts {
  readonly sessions: number;
  readonly wakes: number;
}

/** The costs with a number of workers. Latencies are in milliseconds. */
interface PollingCosts {
  readonly stepsPerSecond: number;
  readonly callsPerSession: number;
  readonly lostPerSession: number;
  readonly idleCallsPerSecond: number;
  readonly latencies: readonly number[];
}

/** Runs sessions on worker processes that have no queue, on SQLite and on Redis. */
export async function benchPolling({ isQuick }: PollingBenchOptions): Promise<void> {
  const amounts = isQuick ? { sessions: 60, wakes: 5 } : { sessions: 200, wakes: 20 };
  console.log(`\n# Polling: ${amounts.sessions} sessions of ${STEPS} steps\n\n${machine()}`);
  for (const store of ['sqlite', 'redis'] as const) {
    const rows: string[][] = [];
    for (const count of WORKERS) {
      const [without, withChannel] = [
        await measureAt({ store, hasChannel: false }, count, amounts),
        await measureAt({ store, hasChannel: true }, count, amounts),
      ];
      rows.push([String(count), ...cellsOf(without, withChannel)]);
    }
    reportTable(store, HEAD, rows);
  }
  console.log(`\n${machine()}`);
}

const HEAD = [
  'workers',
  'steps a second',
  '`due` and `takeDue` a session',
  'lost to another worker, a session',
  'start after the enqueue, median (most), ms',
  'with a channel, ms',
  'calls a second, idle',
];

function cellsOf(without: PollingCosts, withChannel: PollingCosts): string[] {
  const latencyOf = ({ latencies }: PollingCosts): string =>
    `${inUnit(median(latencies))} (${inUnit(Math.max(...latencies))})`;
  const { stepsPerSecond, callsPerSession, lostPerSession, idleCallsPerSecond } = without;
  const numbers = [stepsPerSecond, callsPerSession, lostPerSession].map((value) => inUnit(value));
  return [...numbers, latencyOf(without), latencyOf(withChannel), inUnit(idleCallsPerSecond)];
}

async function measureAt(
  init: Omit<PollingPlace, 'location'>,
  count: number,
  amounts: Amounts,
): Promise<PollingCosts> {
  console.error(
    `polling: ${init.store}, ${count} workers, ${init.hasChannel ? 'with' : 'without'} a channel`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = init.store === 'redis' ? await startRedis() : undefined;
  const place: PollingPlace = { ...init, location: server?.url(0) ?? join(folder, 'sessions.db') };
  const parts = await openPollingPlace(place);
  const workers = await PollingWorkers.start(count, place);
  try {
    return { ...(await busyCosts(parts, workers, amounts)), ...(await idleCosts(parts, workers, amounts)) };
  } finally {
    await workers.stop();
    await parts.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Enqueues many messages at once, and waits until no session is due any more. */
async function busyCosts(
  { store, channel }: PollingParts,
  workers: PollingWorkers,
  { sessions }: Amounts,
): Promise<Pick<PollingCosts, 'stepsPerSecond' | 'callsPerSession' | 'lostPerSession'>> {
  const runtime = newRuntime(store);
  const engine = new PollingEngine({ store, channel });
  const ids = Array.from({ length: sessions }, (_, index) => `busy ${index}`);
  for (const sessionId of ids) await runtime.create({ sessionId, definition: { name: AGENT } });
  await workers.counts();
  const began = performance.now();
  for (const id of ids) await runtime.enqueue(id, { type: 'message', content: 'Act.' });
  await engine.wake(ids[0] ?? '');
  while ((await runtime.list({ executionStatus: 'completed', limit: 1 })).sessions.length === 0)
    await pause(10);
  const far = Date.now() + 3_600_000;
  while ((await store.due({ at: far, limit: 1 })).sessions.length > 0) await pause(20);
  const seconds = (performance.now() - began) / 1_000;
  const { due, taken, lost } = await workers.counts();
  return {
    stepsPerSecond: (sessions * STEPS) / seconds,
    callsPerSession: (due + taken + lost) / sessions,
    lostPerSession: lost / sessions,
  };
}

/** Counts the calls of idle workers, and then wakes one session after the other. */
async function idleCosts(
  { store, channel }: PollingParts,
  workers: PollingWorkers,
  { wakes }: Amounts,
): Promise<Pick<PollingCosts, 'idleCallsPerSecond' | 'latencies'>> {
  await pause(1_000);
  await workers.counts();
  await pause(IDLE_SECONDS * 1_000);
  const { due, taken, lost } = await workers.counts();
  const runtime = newRuntime(store);
  const engine = new PollingEngine({ store, channel });
  const latencies: number[] = [];
  for (let index = 0; index < wakes; index++) {
    const { sessionId } = await runtime.create({ definition: { name: AGENT } });
    await pause(100);
    const began = Date.now();
    await runtime.enqueue(sessionId, { type: 'message', content: 'Act.' });
    await engine.wake(sessionId);
    latencies.push((await workers.started(sessionId)) - began);
  }
  return { idleCallsPerSecond: (due + taken + lost) / IDLE_SECONDS, latencies };
}
