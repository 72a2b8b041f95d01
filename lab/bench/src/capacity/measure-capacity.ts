import { setTimeout as pause } from 'node:timers/promises';
import { pendingApprovals, SessionRuntime } from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import { BullmqEngine } from '@holdfast/runner-bullmq';
import { RedisSessionStore } from '@holdfast/store-redis';
import type { RedisServer } from 'test-servers';
import { percentile, inBatches } from '../engines/measure-load.ts';
import { ServerMeter } from '../engines/server-meter.ts';
import { CapacityProcess } from './capacity-process.ts';
import { sessionIdOf } from './capacity-task.ts';
import { clerks, type ClerkName } from './clerks.ts';

const PROCESSES = 3;
const IDLE_SECONDS = 20;
const WOKEN = 1_000;
/** Sessions whose timers end one after the other. */
const NAPPING = 200;

/** Commands and milliseconds of CPU of an idle system, in a second. */
export interface IdleFigures {
  readonly queueCommands: number;
  readonly storeCommands: number;
  readonly queueCpu: number;
  readonly storeCpu: number;
  readonly workerCpu: number;
}

export interface CapacityFigures {
  readonly sessions: number;
  readonly empty: IdleFigures;
  readonly full: IdleFigures;
  /** Bytes of the store for a session, and bytes of the queue for a timer. */
  readonly storeBytes: number;
  readonly timerBytes: number;
  /** Sessions a second that were created and suspended. */
  readonly created: number;
  /** Milliseconds of a sweep that finds nothing. */
  readonly sweepMilliseconds: number;
  /** Seconds from the first of 1,000 approvals to the end of the last session. */
  readonly wakeSeconds: number;
  /** Milliseconds from the instant of a timer to the work on its session. */
  readonly late50: number;
  readonly late99: number;
}

/** The servers and the workers of one measurement. */
export class CapacityBench {
  private readonly meters: Readonly<Record<'store' | 'queue', ServerMeter>>;
  private readonly runtime: SessionRuntime;
  private readonly engine: BullmqEngine;
  private readonly workers: readonly CapacityProcess[];

  private constructor(
    store: RedisSessionStore,
    urls: Readonly<Record<'store' | 'queue', string>>,
    workers: readonly CapacityProcess[],
  ) {
    this.meters = { store: new ServerMeter(urls.store), queue: new ServerMeter(urls.queue) };
    this.runtime = new SessionRuntime({ store, agents: clerks(), cacheBytes: 0 });
    this.engine = new BullmqEngine({ connection: { url: urls.queue }, onWarning: () => undefined });
    this.workers = workers;
  }

  static async start(servers: Readonly<Record<'store' | 'queue', RedisServer>>): Promise<CapacityBench> {
    const urls = { store: servers.store.url(0), queue: servers.queue.url(0) };
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => CapacityProcess.start(urls)));
    return new CapacityBench(await RedisSessionStore.open({ url: urls.store }), urls, workers);
  }

  async measure(sessions: number, onPhase: (phase: string) => void): Promise<CapacityFigures> {
    onPhase('idle and empty');
    const empty = await this.idle();
    onPhase('waiting sessions');
    const [started, before] = [performance.now(), await this.memory()];
    await this.fill('waiting', sessions / 2);
    onPhase('sleeping sessions');
    await this.fill('asleep', sessions / 2);
    const [seconds, after] = [(performance.now() - started) / 1_000, await this.memory()];
    onPhase('idle and full');
    const full = await this.idle();
    onPhase('sweep');
    const sweepMilliseconds = await this.sweep();
    onPhase('approvals');
    const wakeSeconds = await this.approve();
    onPhase('timers');
    const timers = await this.timers();
    return {
      sessions,
      empty,
      full,
      storeBytes: (after.store - before.store) / sessions,
      timerBytes: (after.queue - before.queue) / (sessions / 2),
      created: sessions / seconds,
      sweepMilliseconds,
      wakeSeconds,
      ...timers,
    };
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.stop();
    await this.engine.close();
    await this.runtime.store.close();
    for (const meter of Object.values(this.meters)) meter.close();
  }

  private async idle(): Promise<IdleFigures> {
    const { store, queue } = this.meters;
    const read = async () => ({
      store: await store.read(),
      queue: await queue.read(),
      cpu: (await Promise.all(this.workers.map((worker) => worker.cpu()))).reduce((sum, cpu) => sum + cpu, 0),
    });
    const before = await read();
    await pause(IDLE_SECONDS * 1_000);
    const after = await read();
    return {
      queueCommands: (after.queue.commands - before.queue.commands) / IDLE_SECONDS,
      storeCommands: (after.store.commands - before.store.commands) / IDLE_SECONDS,
      queueCpu: (after.queue.cpu - before.queue.cpu) / IDLE_SECONDS,
      storeCpu: (after.store.cpu - before.store.cpu) / IDLE_SECONDS,
      workerCpu: (after.cpu - before.cpu) / IDLE_SECONDS,
    };
  }

  private async memory(): Promise<Readonly<Record<'store' | 'queue', number>>> {
    const { store, queue } = this.meters;
    return { store: (await store.read()).memory, queue: (await queue.read()).memory };
  }

  private async fill(agentName: ClerkName, count: number): Promise<void> {
    const { workers } = this;
    const edge = (index: number): number => Math.round((count * index) / workers.length);
    const fills = workers.map((worker, index) =>
      worker.do({ type: 'fill', agentName, from: edge(index), to: edge(index + 1) }),
    );
    await Promise.all(fills);
  }

  private async sweep(): Promise<number> {
    const started = performance.now();
    const { woken } = await sweep(this.runtime.store, this.engine);
    if (woken > 0) throw new Error(`The sweep woke ${woken} sessions that are not due.`);
    return performance.now() - started;
  }

  /** Approves the calls of sessions, and waits until the sessions have ended. */
  private async approve(): Promise<number> {
    const { runtime, engine } = this;
    const ids = Array.from({ length: WOKEN }, (_, index) => sessionIdOf('waiting', index));
    const calls: (readonly [string, string])[] = [];
    await inBatches(ids, async (id) => {
      const [call] = pendingApprovals((await runtime.get(id)).state);
      if (call) calls.push([id, call.id]);
    });
    const started = performance.now();
    const ended = this.finished(ids);
    await inBatches(calls, async ([sessionId, toolExecutionId]) => {
      await runtime.enqueue(sessionId, { type: 'decision', toolExecutionId, decision: 'approved' });
      await engine.wake(sessionId);
    });
    await ended;
    return (performance.now() - started) / 1_000;
  }

  /** Creates sessions one after the other, and waits for their timers. */
  private async timers(): Promise<{ readonly late50: number; readonly late99: number }> {
    const { workers } = this;
    const delays = new Map<string, number>();
    const woken = Promise.withResolvers<undefined>();
    for (const worker of workers)
      worker.onWoken = (sessionId, late) => {
        delays.set(sessionId, Math.min(late, delays.get(sessionId) ?? Infinity));
        if (delays.size === NAPPING) woken.resolve(undefined);
      };
    for (let index = 0; index < NAPPING; index++)
      await workers[index % workers.length]?.do({
        type: 'fill',
        agentName: 'napping',
        from: index,
        to: index + 1,
      });
    await woken.promise;
    const late = [...delays.values()].toSorted((left, right) => left - right);
    return { late50: percentile(late, 0.5), late99: percentile(late, 0.99) };
  }

  /** Resolves when the sessions have ended. */
  private async finished(sessionIds: readonly string[]): Promise<void> {
    const open = new Set(sessionIds);
    return new Promise((resolve) => {
      const onFinished = (sessionId: string): void => {
        if (open.delete(sessionId) && open.size === 0) resolve();
      };
      for (const worker of this.workers) worker.onFinished = onFinished;
    });
  }
}
