import { sendMessage, SessionRuntime, type AgentState } from '@holdfast/core';
import { BullmqEngine } from '@holdfast/runner-bullmq';
import { RedisSessionStore } from '@holdfast/store-redis';
import { instant } from '../engines/engine-task.ts';
import { inBatches } from '../engines/measure-load.ts';
import { sessionIdOf, type CapacityOrder, type CapacityReport, type CapacityTask } from './capacity-task.ts';
import { clerks, type ClerkName } from './clerks.ts';

/** 1 KB, as a person may write it. */
const MESSAGE = 'Please pay the invoice. '.repeat(43);
const CONCURRENCY = 20;

const task = JSON.parse(process.argv[2] ?? '') as CapacityTask; // the parent wrote the argument
const store = await RedisSessionStore.open({ url: task.store });
const runtime = new SessionRuntime({ store, agents: clerks(), cacheBytes: 0 });
const engine = new BullmqEngine({ connection: { url: task.queue }, onWarning: () => undefined });

function report(message: CapacityReport): void {
  process.send?.(message);
}

/** Creates a session whose execution is suspended, and sets its timer. */
async function suspend(agentName: ClerkName, index: number): Promise<void> {
  const sessionId = sessionIdOf(agentName, index);
  await runtime.create({ definition: { name: agentName }, sessionId });
  const { state } = await runtime.execute(sessionId, sendMessage(MESSAGE));
  if (state.status !== 'suspended') throw new Error(`"${sessionId}" is ${state.status} and not suspended.`);
  const at = instantOf(state);
  if (at !== undefined) await engine.wake(sessionId, { at });
}

/** The instant at which a sleeping session is woken. */
function instantOf({ execution }: AgentState): number | undefined {
  const waiting = execution?.waiting.find(({ type }) => type === 'until' || type === 'answer');
  return waiting && 'until' in waiting ? waiting.until : undefined;
}

async function fill(agentName: ClerkName, from: number, to: number): Promise<void> {
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  await inBatches(indexes, (index) => suspend(agentName, index));
  report({ type: 'filled' });
}

async function follow(order: CapacityOrder): Promise<void> {
  if (order.type === 'fill') return fill(order.agentName, order.from, order.to);
  if (order.type === 'count') {
    const { user, system } = process.cpuUsage();
    return report({ type: 'counted', cpu: (user + system) / 1_000 });
  }
  await served.stop();
  await engine.close();
  await store.close();
  process.exit();
}

const served = await engine.serve(
  async (sessionId, options) => {
    const at = instant();
    const wanted = instantOf((await runtime.get(sessionId)).state);
    if (wanted !== undefined && wanted <= at) report({ type: 'woken', sessionId, late: at - wanted });
    const result = await runtime.advance(sessionId, options);
    if (result.outcome.type === 'finished') report({ type: 'finished', sessionId });
    return result;
  },
  { concurrency: CONCURRENCY },
);
process.on('message', (order: CapacityOrder) => void follow(order));
process.once('disconnect', () => process.exit(1));
report({ type: 'serving' });
