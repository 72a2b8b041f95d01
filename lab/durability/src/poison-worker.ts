// A worker that meets a session which kills its process. With ISOLATED it is the process for suspect sessions.
import { setTimeout as pause } from 'node:timers/promises';
import {
  createAgentLoop,
  InProcessEngine,
  SessionRuntime,
  textOf,
  tool,
  type AgentLoop,
} from '@holdfast/core';
import {
  IsolatedProcess,
  serveIsolated,
  sweep,
  type Advance,
  type ServeOptions,
} from '@holdfast/core/engine';
import { openQueue } from './engine/queue.ts';
import { serveQueue } from './engine/serve-queue.ts';
import { Journal } from './journal.ts';
import { STORES } from './stores.ts';

/** The plan of a session, in its first message. */
export interface PoisonPlan {
  readonly sessionId: string;
  readonly steps: number;
  /** True when each step kills its process. */
  readonly isPoison: boolean;
}

const { STORE = '', LOCATION = '', JOURNAL = '', PACE, ISOLATED, LEASE_SECONDS, CONCURRENCY } = process.env;
const { ENGINE, QUEUE = '', SWEEP_SECONDS } = process.env;
const SWEEP_MS = 25;
const pace = Number(PACE ?? 10);
const journal = new Journal(JOURNAL);
const epoch = 0; // no check of this journal needs it

function agent(): AgentLoop {
  const pay = tool<{ readonly sessionId: string }>({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    async execute({ sessionId }, { idempotencyKey: key }) {
      journal.write({ type: 'called', sessionId, epoch, key });
      await pause(pace);
      journal.write({ type: 'done', sessionId, epoch, key });
      return 'paid';
    },
  });
  const kill = tool<{ readonly sessionId: string }>({
    name: 'kill',
    description: 'Kills its process.',
    inputSchema: { type: 'object' },
    effect: 'readOnly',
    async execute({ sessionId }) {
      journal.write({ type: 'called', sessionId, epoch });
      process.kill(process.pid, 'SIGKILL');
      return pause(60_000, 'This process is dead.');
    },
  });
  return createAgentLoop({
    tools: [pay, kill],
    driver: {
      async infer({ messages }, { signal }) {
        const [first] = messages;
        const { sessionId, steps, isPoison } = JSON.parse(first ? textOf(first) : '') as PoisonPlan;
        journal.write({ type: 'inferring', sessionId, epoch });
        await pause(pace, undefined, { signal });
        const step = messages.filter(({ role }) => role === 'tool').length + 1;
        if (step > steps) {
          journal.write({ type: 'done', sessionId, epoch });
          return { text: 'Done.' };
        }
        const call = { toolCallId: `${step}`, toolName: isPoison ? 'kill' : 'pay', input: { sessionId } };
        return { content: [{ type: 'tool-call', ...call }] };
      },
    },
  });
}

const opened = await STORES[STORE]?.(LOCATION);
if (opened === undefined) throw new Error(`There is no store "${STORE}".`);
const store = opened;
const leaseSeconds = Number(LEASE_SECONDS ?? 0.5);
const runtime = new SessionRuntime({ store, agents: { payer: agent() }, leaseSeconds, maxAttempts: 3 });
const advance: Advance = (sessionId, options) => runtime.advance(sessionId, options);

/** Works on due sessions until the input ends. */
async function serve(): Promise<void> {
  const isolated = new IsolatedProcess(process.argv[1] ?? '', { env: { ...process.env, ISOLATED: 'yes' } });
  const options = {
    concurrency: Number(CONCURRENCY ?? 8),
    isolated: isolated.advance,
    onError: () => undefined,
  };
  const leaving = new AbortController();
  process.stdin.resume().once('end', () => leaving.abort());
  if (ENGINE === 'bullmq') {
    const times = { sweepSeconds: Number(SWEEP_SECONDS), stopSeconds: 10 };
    await serveQueue(
      { engine: await openQueue(QUEUE), store, advance, ...times, ...options },
      leaving.signal,
    );
  } else await serveInMemory(options, leaving.signal);
  await isolated.stop();
  await store.close();
}

async function serveInMemory(options: ServeOptions, signal: AbortSignal): Promise<void> {
  const engine = new InProcessEngine();
  const worker = await engine.serve(advance, options);
  while (!signal.aborted) {
    await sweep(store, engine, { againAfterSeconds: 1 });
    await pause(SWEEP_MS);
  }
  await worker.stop();
}

if (ISOLATED) serveIsolated(advance);
else await serve();
