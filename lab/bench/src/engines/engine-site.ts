import { SessionRuntime } from '@holdfast/core';
import { BullmqEngine } from '@holdfast/runner-bullmq';
import { RedisSessionStore } from '@holdfast/store-redis';
import { Queue } from 'bullmq';
import type { RedisServer } from 'test-servers';
import { startRedis } from '../stores/redis-server.ts';
import { EngineAgents, scheduleOf, type AgentsTask } from './engine-agents.ts';
import { MESSAGE, PLAIN_QUEUE, type WorkerReport, type WorkerTask } from './engine-task.ts';
import { ServerMeter } from './server-meter.ts';
import { WorkerProcess } from './worker-process.ts';

/** The options of a site. */
export type SiteOptions = Pick<
  WorkerTask,
  'engine' | 'concurrency' | 'lockSeconds' | 'stalledSeconds' | 'isVerbose'
> & {
  readonly agents: AgentsTask;
  readonly processes: number;
};

/** A session that the parent creates. */
export interface NewSession {
  readonly sessionId: string;
  readonly agentName?: string;
  readonly owner?: string;
}

/** A server for the store, a server for the queue, and worker processes. The parent creates and wakes sessions. */
export class EngineSite {
  readonly store: ServerMeter;
  readonly queue: ServerMeter;
  readonly runtime: SessionRuntime;
  readonly engine: BullmqEngine;
  readonly workers: WorkerProcess[] = [];
  /** Receives each report of each worker. */
  onReport: (report: WorkerReport, worker: WorkerProcess) => void = () => undefined;
  private readonly options: SiteOptions;
  private readonly plain: Queue;
  private readonly closers: readonly (() => unknown)[];

  private constructor(
    options: SiteOptions,
    servers: readonly [RedisServer, RedisServer],
    store: RedisSessionStore,
  ) {
    const [storeServer, queueServer] = servers;
    this.options = options;
    this.store = new ServerMeter(storeServer.url(0));
    this.queue = new ServerMeter(queueServer.url(0));
    const { agents } = new EngineAgents(options.agents);
    this.runtime = new SessionRuntime({ store, agents, cacheBytes: 0 });
    this.engine = new BullmqEngine({ connection: { url: queueServer.url(0) }, onWarning: () => undefined });
    this.plain = new Queue(PLAIN_QUEUE, { connection: { host: '127.0.0.1', port: queueServer.port } });
    this.closers = [
      () => this.plain.close(),
      () => this.engine.close(),
      () => store.close(),
      () => this.store.close(),
      () => this.queue.close(),
      () => storeServer.stop(),
      () => queueServer.stop(),
    ];
  }

  /** Runs some work on a new site, and removes the site. */
  static async use<Result>(
    options: SiteOptions,
    work: (site: EngineSite) => Promise<Result>,
  ): Promise<Result> {
    const servers = [await startRedis(), await startRedis()] as const;
    const site = new EngineSite(options, servers, await RedisSessionStore.open({ url: servers[0].url(0) }));
    try {
      while (site.workers.length < options.processes) await site.addWorker();
      return await work(site);
    } finally {
      await Promise.all(site.workers.map((worker) => worker.stop()));
      for (const close of site.closers) await close();
    }
  }

  /** Starts one more worker process, which does not serve yet. */
  async addWorker(): Promise<WorkerProcess> {
    const { engine, agents, concurrency, lockSeconds, stalledSeconds, isVerbose = false } = this.options;
    const times = { concurrency, lockSeconds, stalledSeconds, isVerbose };
    const task: WorkerTask = { engine, agents, store: this.store.url, queue: this.queue.url, ...times };
    const worker = await WorkerProcess.start(task, (report, from) => {
      if (report.type === 'failed') console.error(report.error);
      this.onReport(report, from);
    });
    this.workers.push(worker);
    return worker;
  }

  async create({ sessionId, agentName: name = 'bench', owner }: NewSession): Promise<void> {
    await this.runtime.create({ definition: { name }, sessionId, ...(owner && { owner }) });
  }

  /** Requests the work on a session as an application does. Without an engine, the worker knows its sessions. */
  async submit({ sessionId, agentName = 'bench', owner }: NewSession): Promise<void> {
    const { engine, agents } = this.options;
    if (engine === 'no engine') return;
    if (engine === 'plain BullMQ') {
      await this.plain.add('run', { sessionId }, { removeOnComplete: true, removeOnFail: true });
      return;
    }
    await this.runtime.enqueue(sessionId, { type: 'message', content: MESSAGE });
    await this.engine.wake(sessionId, scheduleOf(agents.schedule, { agentName, owner }));
  }
}
