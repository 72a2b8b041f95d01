import { setTimeout as pause } from 'node:timers/promises';
import type { SessionRuntime } from '@holdfast/core';
import type { Metrics } from '../results.ts';
import { LANES } from './engine-agents.ts';
import { EngineSite, type NewSession, type SiteOptions } from './engine-site.ts';
import { instant, type EngineName } from './engine-task.ts';
import type { ServerMeter } from './server-meter.ts';

/**
 * Steps a second; milliseconds of the workers' CPU a step; microseconds of CPU a step of both servers; their commands a
 * step; milliseconds from a wake-up to the start of its work, while the workers are idle.
 */
export type LoadMetric =
  | 'steps'
  | 'cpu'
  | 'queueCpu'
  | 'storeCpu'
  | 'queueCommands'
  | 'storeCommands'
  | 'lag50'
  | 'lag99';

export interface LoadOptions {
  readonly engine: EngineName;
  readonly sessions: number;
  /** How many sessions are woken one after the other while the workers are idle. */
  readonly wakes: number;
}

export const PROCESSES = 3;
const CONCURRENCY = 100;
export const STEPS = 20;
const OWNERS = 10;
/** Milliseconds of a call of the model: 300 places take 15,000 steps a second at most. */
export const DELAY = 20;
const WAKE_PAUSE = 20;

/** Runs sessions on three workers to their end, and then wakes some that are idle. */
export async function measureLoad(options: LoadOptions): Promise<Metrics<LoadMetric>> {
  const { engine } = options;
  const schedule = engine === 'BullmqEngine, lanes' ? 'lanes' : 'none';
  const agents = { steps: STEPS, delay: DELAY, schedule } as const;
  const times = { lockSeconds: 30, stalledSeconds: 10 };
  const site: SiteOptions = { engine, agents, concurrency: CONCURRENCY, processes: PROCESSES, ...times };
  return EngineSite.use(site, async (open) => {
    const load = await runToTheEnd(open, options);
    return { ...load, ...(engine === 'no engine' ? {} : await lagOfWakes(open, options)) };
  });
}

async function runToTheEnd(
  site: EngineSite,
  { engine, sessions: count }: LoadOptions,
): Promise<Metrics<LoadMetric>> {
  const sessions = sessionsOf(count, engine);
  await inBatches(sessions, (session) => site.create(session));
  const [store, queue] = [await figuresSince(site.store), await figuresSince(site.queue)];
  await inBatches(sessions, (session) => site.submit(session));
  const finished = finishedOf(site, sessions);
  const started = performance.now();
  await serveAll(site, engine === 'no engine' ? sessions : []);
  await finished;
  const time = performance.now() - started;
  const steps = count * STEPS;
  const [ofStore, ofQueue] = [await store(), await queue()];
  const counts = await Promise.all(site.workers.map((worker) => worker.count()));
  const cpu = counts.reduce((sum, counted) => sum + counted.cpu, 0);
  await inBatches(sessions, ({ sessionId }) => checkHistory(site.runtime, sessionId));
  return {
    steps: (steps / time) * 1_000,
    cpu: cpu / steps,
    storeCpu: (ofStore.cpu * 1_000) / steps,
    queueCpu: (ofQueue.cpu * 1_000) / steps,
    storeCommands: ofStore.commands / steps,
    queueCommands: ofQueue.commands / steps,
  };
}

/** Wakes sessions one after the other, and measures until a worker begins. */
async function lagOfWakes(site: EngineSite, { wakes }: LoadOptions): Promise<Metrics<LoadMetric>> {
  const sessions = Array.from({ length: wakes }, (_, index) => ({
    sessionId: `wake ${index}`,
    agentName: 'brief',
  }));
  await inBatches(sessions, (session) => site.create(session));
  const woken = new Map<string, number>();
  const lags = new Map<string, number>();
  const finished = finishedOf(site, sessions, ({ sessionId, at }) => {
    const lag = at - (woken.get(sessionId) ?? NaN);
    lags.set(sessionId, Math.min(lag, lags.get(sessionId) ?? Infinity));
  });
  for (const session of sessions) {
    woken.set(session.sessionId, instant());
    await site.submit(session);
    await pause(WAKE_PAUSE);
  }
  await finished;
  const sorted = [...lags.values()].toSorted((left, right) => left - right);
  return { lag50: percentile(sorted, 0.5), lag99: percentile(sorted, 0.99) };
}

/** The value below which so large a part of the sorted values is. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? NaN;
}

function sessionsOf(count: number, engine: EngineName): readonly NewSession[] {
  return Array.from({ length: count }, (_, index) => ({
    sessionId: `session ${index}`,
    agentName: engine === 'BullmqEngine, lanes' ? (LANES[index % LANES.length] ?? 'bench') : 'bench',
    owner: `owner ${Math.floor(index / LANES.length) % OWNERS}`,
  }));
}

/** Starts the work. Without an engine, each worker has its share of the sessions. */
async function serveAll({ workers }: EngineSite, sessions: readonly NewSession[]): Promise<void> {
  const serving = workers.map((worker, index) => {
    const share = sessions.filter((_, number) => number % workers.length === index);
    return worker.serve(share.map(({ sessionId }) => sessionId));
  });
  await Promise.all(serving);
}

/** Resolves when workers have finished all of these sessions. */
export async function finishedOf(
  site: EngineSite,
  sessions: readonly NewSession[],
  onBegan: (begin: { readonly sessionId: string; readonly at: number }) => void = () => undefined,
): Promise<void> {
  const open = new Set(sessions.map(({ sessionId }) => sessionId));
  return new Promise((resolve, reject) => {
    site.onReport = (report) => {
      if (report.type === 'failed') reject(new Error(report.error));
      if (report.type === 'began') onBegan(report);
      if (report.type === 'finished' && open.delete(report.sessionId) && open.size === 0) resolve();
    };
  });
}

const BATCH = 50;

/** Handles values, a number of them at the same time. */
export async function inBatches<Value>(
  values: readonly Value[],
  handle: (value: Value) => Promise<unknown>,
): Promise<void> {
  const waiting = values.values();
  const lane = async (): Promise<void> => {
    for (const value of waiting) await handle(value);
  };
  await Promise.all(Array.from({ length: BATCH }, lane));
}

/** Returns a function that reads what a server did and holds since now. */
async function figuresSince(meter: ServerMeter): Promise<() => ReturnType<ServerMeter['read']>> {
  const before = await meter.read();
  return async () => {
    const after = await meter.read();
    const since = (name: keyof typeof after): number => after[name] - before[name];
    return { cpu: since('cpu'), commands: since('commands'), memory: since('memory') };
  };
}

/** @throws Error when the history of a session is not the one of a run without a crash. */
export async function checkHistory(runtime: SessionRuntime, sessionId: string, steps = STEPS): Promise<void> {
  const { state } = await runtime.get(sessionId);
  const results = state.steps.flatMap(({ toolExecutions }) => toolExecutions.map(({ value }) => value));
  const numbers = results.map((value) => (value as { readonly n: number } | undefined)?.n);
  const isRight =
    state.status === 'completed' &&
    state.finalResponse === 'done' &&
    state.steps.length === steps &&
    numbers.length === steps - 1 &&
    numbers.every((number, index) => number === index) &&
    state.messages.length === 2 * steps;
  if (isRight) return;
  const found = `${state.status}, ${state.steps.length} steps, ${state.messages.length} messages, calls ${numbers.join()}`;
  throw new Error(`The history of "${sessionId}" is wrong: ${found}.`);
}
