import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionRuntime, type AgentSession } from '@holdfast/core';
import type { BullmqEngine } from '@holdfast/runner-bullmq';
import type { Plan } from '../src/agent.ts';
import type { ParentPlan } from '../src/engine/parent.ts';
import { openQueue } from '../src/engine/queue.ts';
import { ignoreOutage } from '../src/engine/serve-queue.ts';
import { Journal } from '../src/journal.ts';
import { People } from '../src/people.ts';
import { openStore, type Store } from '../src/stores.ts';
import type { NewLocation } from './servers.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { WorkerProcess, type Ended, type WorkerInit } from './worker-process.ts';

/** The store, the journal and the queue that all processes of a world share. */
type WorldInit = Pick<WorkerInit, 'store' | 'location' | 'journal' | 'queue'>;

/** An empty store, a journal, and perhaps a queue, with the processes that use them. */
export class World {
  readonly store: Store;
  /** Creates and reads sessions. It has no agent: only processes work. */
  readonly runtime: SessionRuntime;
  readonly journal: Journal;
  /** People who decide in this process, and wake the sessions. */
  readonly people: People;
  private readonly init: WorldInit;
  private readonly engine: BullmqEngine | undefined;

  private constructor(store: Store, init: WorldInit, engine?: BullmqEngine) {
    this.store = store;
    this.init = init;
    this.journal = new Journal(init.journal);
    this.runtime = new SessionRuntime({ store, agents: {} });
    this.engine = engine;
    const wake = (sessionId: string): Promise<void> => this.wake(sessionId);
    this.people = new People({ store, runtime: this.runtime, journal: this.journal, wake });
  }

  /** @param queue the location of the queue, through which this process wakes the sessions. Default: sweeps find them. */
  static async of(name: string, newLocation: NewLocation, queue?: string): Promise<World> {
    const folder = temporaryFolder();
    const location = await newLocation(folder);
    const store = await openStore(name, location);
    const engine = queue === undefined ? undefined : await openQueue(queue);
    return new World(store, { store: name, location, journal: join(folder, 'journal'), queue }, engine);
  }

  /** True when workers learn from a queue of the work, and this process decides for people. */
  get hasQueue(): boolean {
    return this.engine !== undefined;
  }

  /** Creates a session, and sends it its plan. */
  async begin(plan: Plan | ParentPlan): Promise<void> {
    const { sessionId } = plan;
    const name = 'children' in plan ? 'parent' : 'payer';
    const owner = 'owner' in plan ? plan.owner : undefined;
    await this.runtime.create({ definition: { name }, sessionId, ...(owner !== undefined && { owner }) });
    await this.tell(sessionId, JSON.stringify(plan), 'plan');
  }

  /** Leaves a message with an id in the inbox of a session, and wakes the session. */
  async tell(sessionId: string, content: string, id: string): Promise<void> {
    await this.runtime.enqueue(sessionId, { type: 'message', content }, { id });
    await this.wake(sessionId);
  }

  /** Wakes a session, as a web process does. While the queue is down, a sweep finds the session. */
  async wake(sessionId: string): Promise<void> {
    await this.engine?.wake(sessionId).catch(ignoreOutage);
  }

  /** Starts a process with these arguments. */
  start(args: readonly string[], options: Omit<WorkerInit, keyof WorldInit> = {}): WorkerProcess {
    return new WorkerProcess({ ...options, ...this.init }, ...args);
  }

  /** Runs a process to its end. */
  run(...parameters: Parameters<World['start']>): Promise<Ended> {
    return this.start(...parameters).ended;
  }

  async load(sessionId: string): Promise<AgentSession> {
    return this.runtime.get(sessionId);
  }

  async close(): Promise<void> {
    await this.engine?.close();
    await this.store.close();
  }
}

/** True when a signal has stopped the process. */
export function isFrozen({ pid }: WorkerProcess): boolean {
  return /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** Calls a function for each item, a few at a time. */
export async function forEachOf<T>(
  items: readonly T[],
  concurrency: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const lanes = Array.from({ length: concurrency }, async () => {
    for (const item of queue) await act(item);
  });
  await Promise.all(lanes);
}
