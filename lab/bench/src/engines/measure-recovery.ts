import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../measure.ts';
import type { Metrics } from '../results.ts';
import { EngineSite } from './engine-site.ts';
import { instant } from './engine-task.ts';
import { checkHistory, inBatches, PROCESSES } from './measure-load.ts';
import type { SceneMetric } from './scene-metric.ts';
import type { WorkerProcess } from './worker-process.ts';

const TIMES = { lockSeconds: 2, stalledSeconds: 1 };
const STEPS = 200;
const AGENTS = { steps: STEPS, delay: 250, schedule: 'none' } as const;
const SESSIONS = 6;
/** Free places, so that a session waits for its lock and not for a place. */
const CONCURRENCY = 4;
const WARM_UP = 2_000;

/** A session that a dead worker had, and the wait until another worker continued it. */
class Recoveries {
  readonly seconds: number[] = [];
  /** The worker of each session, while it works on it. */
  readonly workers = new Map<string, WorkerProcess>();
  private readonly open = new Map<string, number>();
  private onEmpty = (): void => undefined;

  /** Waits until the sessions of a dead worker are continued. */
  async expect(dead: WorkerProcess): Promise<void> {
    const at = instant();
    await dead.kill();
    for (const [sessionId, worker] of this.workers) if (worker === dead) this.open.set(sessionId, at);
    if (this.open.size > 0) await new Promise<void>((resolve) => (this.onEmpty = resolve));
  }

  /** Notes the instant at which a worker began an advance that had an effect. */
  note(sessionId: string, at: number): void {
    const killed = this.open.get(sessionId);
    if (killed === undefined || at < killed) return;
    this.open.delete(sessionId);
    this.seconds.push((at - killed) / 1_000);
    if (this.open.size === 0) this.onEmpty();
  }
}

/** Kills workers, and measures until other workers have continued their sessions. */
export async function measureRecovery(isQuick: boolean): Promise<Metrics<SceneMetric>> {
  const options = { engine: 'BullmqEngine, 1 step', agents: AGENTS, concurrency: CONCURRENCY } as const;
  return EngineSite.use({ ...options, ...TIMES, processes: PROCESSES, isVerbose: true }, async (site) => {
    const sessions = Array.from({ length: SESSIONS }, (_, index) => ({ sessionId: `session ${index}` }));
    const kills = isQuick ? 3 : 12;
    const recoveries = new Recoveries();
    const finished = follow(site, recoveries, sessions.length);
    await inBatches(sessions, (session) => site.create(session));
    await inBatches(sessions, (session) => site.submit(session));
    await Promise.all(site.workers.map((worker) => worker.serve()));
    for (let kill = 0; kill < kills; kill++) {
      await pause(WARM_UP);
      const dead = site.workers.shift();
      if (dead) await recoveries.expect(dead);
      await (await site.addWorker()).serve();
    }
    await finished;
    await inBatches(sessions, ({ sessionId }) => checkHistory(site.runtime, sessionId, STEPS));
    const { seconds } = recoveries;
    const bound = TIMES.lockSeconds + 2 * TIMES.stalledSeconds;
    const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
    return { kills, sessions: seconds.length, least, median: median(seconds), most, bound };
  });
}

/** Follows the reports of the workers. Resolves when all sessions are finished. */
async function follow(site: EngineSite, recoveries: Recoveries, count: number): Promise<void> {
  const ended = new Set<string>();
  return new Promise((resolve) => {
    site.onReport = (report, worker) => {
      if (report.type === 'began') recoveries.workers.set(report.sessionId, worker);
      if (report.type !== 'advanced' && report.type !== 'finished') return;
      if (recoveries.workers.get(report.sessionId) === worker) recoveries.workers.delete(report.sessionId);
      if (report.type === 'advanced') recoveries.note(report.sessionId, report.at);
      else if (ended.add(report.sessionId).size === count) resolve();
    };
  });
}
