import { sendMessage, SessionRuntime } from '@holdfast/core';
import type { Advance } from '@holdfast/core/engine';
import { BullmqEngine } from '@holdfast/runner-bullmq';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Worker } from 'bullmq';
import { EngineAgents, scheduleOf } from './engine-agents.ts';
import {
  instant,
  MESSAGE,
  PLAIN_QUEUE,
  STEPS_PER_TURN,
  type WorkerOrder,
  type WorkerReport,
  type WorkerTask,
} from './engine-task.ts';

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask; // the parent wrote the argument
const agents = new EngineAgents(task.agents);
const store = await RedisSessionStore.open({ url: task.store });
const runtime = new SessionRuntime({
  store,
  agents: agents.agents,
  schedule: (session) => scheduleOf(task.agents.schedule, session),
  leaseSeconds: task.lockSeconds,
});
let started: NodeJS.CpuUsage = process.cpuUsage();
let stop = async (): Promise<void> => undefined;

function report(message: WorkerReport): void {
  process.send?.(message);
}

function fail(error: unknown): void {
  report({ type: 'failed', error: String(error instanceof Error ? error.stack : error) });
}

function began(sessionId: string): void {
  report({ type: 'began', sessionId, at: instant() });
}

async function execute(sessionId: string): Promise<void> {
  began(sessionId);
  await runtime.execute(sessionId, sendMessage(MESSAGE));
  report({ type: 'finished', sessionId, at: instant() });
}

const seen = new Set<string>();
const advance: Advance = async (sessionId, options) => {
  const isFirst = !seen.has(sessionId);
  seen.add(sessionId);
  const at = instant();
  if (isFirst || task.isVerbose) report({ type: 'began', sessionId, at });
  const result = await runtime.advance(sessionId, options);
  const { type } = result.outcome;
  if (task.isVerbose && type !== 'lost' && type !== 'isolate') report({ type: 'advanced', sessionId, at });
  if (type === 'finished') report({ type: 'finished', sessionId, at: instant() });
  return result;
};

async function executeAll(sessionIds: readonly string[]): Promise<void> {
  const waiting = sessionIds.values();
  const lane = async (): Promise<void> => {
    for (const sessionId of waiting) await execute(sessionId);
  };
  await Promise.all(Array.from({ length: task.concurrency }, lane));
}

async function servePlain(): Promise<void> {
  const { port, hostname: host } = new URL(task.queue);
  const worker = new Worker<{ readonly sessionId: string }>(
    PLAIN_QUEUE,
    ({ data }) => execute(data.sessionId),
    {
      connection: { host, port: Number(port) },
      concurrency: task.concurrency,
      lockDuration: task.lockSeconds * 1_000,
      stalledInterval: task.stalledSeconds * 1_000,
    },
  );
  worker.on('error', fail);
  worker.on('failed', (_, error) => fail(error));
  await worker.waitUntilReady();
  stop = () => worker.close();
}

async function serveEngine(stepsPerTurn: number): Promise<void> {
  const { lockSeconds, stalledSeconds, concurrency } = task;
  const connection = { url: task.queue };
  const onWarning = (): void => undefined; // the servers of the bench write nothing to disk
  const engine = new BullmqEngine({ connection, stepsPerTurn, lockSeconds, stalledSeconds, onWarning });
  const served = await engine.serve(advance, { concurrency, onError: fail });
  stop = async () => {
    await served.stop();
    await engine.close();
  };
}

async function serve(sessionIds: readonly string[]): Promise<void> {
  started = process.cpuUsage();
  const stepsPerTurn = STEPS_PER_TURN[task.engine];
  if (task.engine === 'no engine') executeAll(sessionIds).catch(fail);
  else await (stepsPerTurn ? serveEngine(stepsPerTurn) : servePlain());
  report({ type: 'serving' });
}

async function follow(order: WorkerOrder): Promise<void> {
  if (order.type === 'serve') return serve(order.sessionIds);
  if (order.type === 'limit') agents.limited = order.agent;
  if (order.type === 'count') {
    const { user, system } = process.cpuUsage(started);
    report({ type: 'counted', cpu: (user + system) / 1_000, answers: { ...agents.answers } });
  }
  if (order.type !== 'stop') return;
  await stop();
  await store.close();
  process.send?.({ type: 'stopped' } satisfies WorkerReport, () => process.exit());
}

process.on('message', (order: WorkerOrder) => void follow(order).catch(fail));
process.once('disconnect', () => process.exit(1));
report({ type: 'ready' });
