// A process that works on sessions. Its environment has its settings, its arguments have its task.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import {
  approve,
  InProcessEngine,
  sendMessage,
  SessionRuntime,
  type AgentLoop,
  type AgentSession,
} from '@holdfast/core';
import {
  IsolatedProcess,
  PollingEngine,
  serveIsolated,
  sweep,
  type Advance,
  type ExecutionEngine,
} from '@holdfast/core/engine';
import type { BullmqEngine } from '@holdfast/runner-bullmq';
import { payer, planOf, type Account } from './agent.ts';
import { parent } from './engine/parent.ts';
import { openQueue } from './engine/queue.ts';
import { rest } from './engine/rest.ts';
import { serveQueue } from './engine/serve-queue.ts';
import { Faults } from './faults.ts';
import { Journal } from './journal.ts';
import { People } from './people.ts';
import { jumpingClock, Provider } from './provider.ts';
import { loopWithout, storeWithout, type Protection } from './removals.ts';
import { readSettings } from './settings.ts';
import { openStore } from './stores.ts';
import { midWrite, watched } from './watched-store.ts';

const settings = readSettings();
const { leaseSeconds, maxAttempts, concurrency, isIsolating } = settings;
/** True in the process for suspect sessions. */
const isIsolated = process.env['ISOLATED'] !== undefined;
const DAY = 86_400_000;
const POLL_MS = 25;
const ATTEND_MS = 150;
const SWEEP_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
const STDOUT = 1;

const journal = new Journal(settings.journal);
const faults = new Faults(settings.fault);
const faultsBySession = new Map<string, Faults>();
const faultsOf = (sessionId: string): Faults => faultsBySession.get(sessionId) ?? faults;
const epochs = new Map<string, number>();
const without = (settings.without || undefined) as Protection | undefined;

const opened = await openStore(settings.store, settings.location, midWrite);
const queue = settings.queue && !isIsolated ? await openQueue(settings.queue) : undefined;
const store = watched(storeWithout(without, opened), { journal, faultsOf, epochs });

function loopOf({ sessionId, state, agentName }: AgentSession): AgentLoop<Account> {
  if (agentName === 'parent') return parent({ runtime: () => runtime, wake: async (id) => queue?.wake(id) });
  const isSwitched = planOf(state)?.outage === 'overloaded';
  const epoch = epochs.get(sessionId) ?? 0; // another claim of this process does not change it
  let checkedAt = 0;
  const loop = payer({
    journal,
    faults: faultsOf(sessionId),
    pace: settings.pace,
    provider: new Provider(journal, settings.outageFile || undefined),
    epoch,
    checkedAt: () => checkedAt,
    clock: isSwitched ? jumpingClock(sessionId, journal) : undefined,
    hooks: [rest],
  });
  return loopWithout(without, loop, () => (checkedAt = Date.now()));
}

const newRuntime = (): SessionRuntime<Account> =>
  new SessionRuntime({
    store,
    agents: loopOf,
    runContext: async (info) => ({ accountOf: info.sessionId }),
    leaseSeconds,
    maxAttempts,
    schedule: ({ state, agentName, owner }) => ({
      lane: agentName === 'payer' ? planOf(state)?.lane : undefined,
      group: owner,
    }),
    workerName: String(process.pid),
  });
const runtime = newRuntime();
const advance: Advance = (sessionId, options) => runtime.advance(sessionId, options);

const peopleWith = (own: SessionRuntime<Account>): People =>
  new People({ store, runtime: own, journal, faultsOf });

function say(what: unknown): void {
  writeSync(STDOUT, `${JSON.stringify(what)}\n`);
}

/** A session to work on, and its own fault. */
interface Scene {
  readonly sessionId: string;
  readonly fault?: string;
}

/**
 * Drives one session after the other, each with a runtime of its own. Dies when the last is finished or has stopped, if any
 * of them has stopped.
 */
async function play(scenes: readonly Scene[]): Promise<void> {
  let hasStopped = false;
  for (const { sessionId, fault } of scenes) {
    await new Promise<void>((resolve, reject) => {
      const onStop = (): void => {
        journal.silence(sessionId);
        hasStopped = true;
        resolve();
      };
      faultsBySession.set(sessionId, new Faults(fault, onStop));
      drive(sessionId, newRuntime()).then(resolve, reject);
    });
  }
  if (hasStopped) process.kill(process.pid, 'SIGKILL');
}

/** Works on one session to its end, and prints the outcome of each advance; the last line also has the visited places. */
async function drive(sessionId: string, own: SessionRuntime<Account>): Promise<void> {
  const people = peopleWith(own);
  let last = '';
  for (;;) {
    const { outcome } = await own.advance(sessionId);
    if (outcome.type === 'finished')
      return say({ sessionId, outcome: outcome.type, counts: faultsOf(sessionId).counts });
    if (outcome.type !== last) say({ sessionId, outcome: outcome.type });
    last = outcome.type;
    if (outcome.type === 'suspended') await people.decide(sessionId);
    // An execution that waits for a person sleeps until the instant at which it fails.
    if (outcome.type === 'sleep' && !(await people.revive(sessionId))) await pauseUntil(outcome.until);
    if (outcome.type === 'lost') await pause(POLL_MS);
  }
}

function pauseUntil(instant: number): Promise<void> {
  return pause(Math.min(Math.max(instant - Date.now(), 1), LONGEST_PAUSE_MS));
}

/** Returns true when no session has work, now or later. */
async function isNothingDue(): Promise<boolean> {
  return (await store.due({ at: Date.now() + DAY, limit: 1 })).sessions.length === 0;
}

/** Works on due sessions with an engine, until the signal aborts or all sessions are finished. */
async function serve(signal: AbortSignal, isEndless: boolean, engine: ExecutionEngine): Promise<void> {
  const isolated = isolatedProcess();
  const served = await engine.serve(advance, {
    concurrency,
    isolated: isolated?.advance,
    onError: (error) => console.error(error),
  });
  const people = peopleWith(runtime);
  while (!signal.aborted) {
    if (!(engine instanceof PollingEngine)) await sweep(store, engine, { againAfterSeconds: 1 });
    const waiting = await people.attend();
    if (!isEndless && waiting === 0 && (await isNothingDue())) break;
    await pause(ATTEND_MS);
  }
  await served.stop();
  await isolated?.stop();
}

/** Works on the sessions of the queue. People decide in another process. */
async function serveEngine(engine: BullmqEngine, signal: AbortSignal): Promise<void> {
  const isolated = isolatedProcess();
  const { sweepSeconds, stopSeconds } = settings;
  const options = { concurrency, isolated: isolated?.advance, sweepSeconds, stopSeconds };
  await serveQueue({ engine, store, advance, ...options, onReady: () => say('ready') }, signal);
  await isolated?.stop();
}

/** A process like this one, for suspect sessions. */
function isolatedProcess(): IsolatedProcess | undefined {
  const env = { ...process.env, ISOLATED: 'yes' };
  return isIsolating ? new IsolatedProcess(process.argv[1] ?? '', { env }) : undefined;
}

/** Sweeps and works until no session is due. Prints how many sessions the sweeps woke and the engine advanced. */
async function drain(): Promise<void> {
  const engine = new InProcessEngine();
  let advanced = 0;
  const served = await engine.serve((...parameters) => {
    advanced++;
    return advance(...parameters);
  });
  let woken = 0;
  for (; !(await isNothingDue()); await pause(SWEEP_MS)) woken += (await sweep(store, engine)).woken;
  await served.stop();
  say({ woken, advanced });
}

/** A request of the parent process, in one line. */
interface Request {
  readonly sessionId: string;
  readonly approve?: string;
  readonly message?: string;
}

async function carryOut({ sessionId, approve: call, message = '' }: Request): Promise<unknown> {
  const action = call === undefined ? sendMessage(message) : approve(call);
  try {
    return { status: (await runtime.execute(sessionId, action)).state.status };
  } catch (error) {
    const { name, code } = error as { readonly name?: string; readonly code?: string };
    return { name, code };
  }
}

const [, , command = '', argument = ''] = process.argv;
const requests = createInterface(process.stdin);

/** Serves until the parent process closes the input. */
async function serveUntilLeft(newEngine: () => ExecutionEngine): Promise<void> {
  const leaving = new AbortController();
  requests.once('close', () => leaving.abort());
  if (queue) return serveEngine(queue, leaving.signal);
  say('ready');
  return serve(leaving.signal, true, newEngine());
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  play: () => play(JSON.parse(argument) as Scene[]),
  drive: () => drive(argument, runtime),
  finish: () => serve(new AbortController().signal, false, new InProcessEngine()),
  serve: () => serveUntilLeft(() => new InProcessEngine()),
  poll: () => serveUntilLeft(() => new PollingEngine({ store, pollSeconds: 0.1, againAfterSeconds: 1 })),
  async drain() {
    say('ready');
    await once(requests, 'line');
    await drain();
  },
  async act() {
    say('ready');
    for await (const line of requests) say(await carryOut(JSON.parse(line) as Request));
  },
};

if (isIsolated) serveIsolated(advance);
else {
  await COMMANDS[command]?.();
  requests.close();
  await store.close();
  process.exit();
}
