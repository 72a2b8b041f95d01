import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SessionRuntime } from '@holdfast/core';
import type { AgentSession, SessionStore } from '@holdfast/core';
import type { Plan } from '../src/agent.ts';
import type { PoisonPlan } from '../src/poison-worker.ts';
import { Journal } from '../src/journal.ts';
import { STORES } from '../src/stores.ts';
import type { NewLocation } from './servers.ts';
import type { Ended, WorkerInit } from './worker-process.ts';
import { WorkerProcess } from './worker-process.ts';

const POLL_MILLISECONDS = 10;
const WAIT_MILLISECONDS = 60_000;

/** An empty store, a journal, and processes that work with both. */
export class World {
  readonly store: SessionStore;
  /** Makes and reads sessions. It has no agent: only processes work. */
  readonly runtime: SessionRuntime;
  readonly journal: Journal;
  private readonly folder: string;
  private readonly init: Pick<WorkerInit, 'store' | 'location' | 'journal'>;

  private constructor(store: SessionStore, folder: string, init: World['init']) {
    this.store = store;
    this.folder = folder;
    this.init = init;
    this.journal = new Journal(init.journal);
    this.runtime = new SessionRuntime({ store, agents: {} });
  }

  static async of(name: string, newLocation: NewLocation): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-durability-'));
    const location = await newLocation(folder);
    const store = await STORES[name]?.(location);
    if (store === undefined) throw new Error(`There is no store "${name}".`);
    return new World(store, folder, { store: name, location, journal: join(folder, 'journal') });
  }

  /** A session with work to do that nobody has begun. */
  async begin(plan: Plan | PoisonPlan): Promise<void> {
    const { sessionId } = plan;
    await this.runtime.create({ definition: { name: 'payer' }, sessionId });
    await this.runtime.enqueue(sessionId, { type: 'message', content: JSON.stringify(plan) }, { id: 'plan' });
  }

  /** A process that does what its arguments say. */
  start(
    args: readonly string[],
    options: Omit<WorkerInit, 'store' | 'location' | 'journal'> = {},
  ): WorkerProcess {
    return new WorkerProcess({ ...options, ...this.init }, ...args);
  }

  /** A process, to its end. */
  run(...parameters: Parameters<World['start']>): Promise<Ended> {
    return this.start(...parameters).ended;
  }

  async load(sessionId: string): Promise<AgentSession> {
    return this.runtime.get(sessionId);
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits for something that can be seen. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MILLISECONDS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It did not come about in time that ${what}.`);
    await pause(POLL_MILLISECONDS);
  }
}

/** Is a process stopped by a signal? */
export function isFrozen({ pid }: WorkerProcess): boolean {
  return /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** Does something with each of a list, a few at a time. */
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
