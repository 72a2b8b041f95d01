import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { PollingPlace } from './polling-agent.ts';
import type { PollingCounts, PollingReport } from './polling-worker.ts';

const WORKER = new URL('./polling-worker.ts', import.meta.url);
const STARTED_AT_ONCE = 4;
const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** Worker processes on one store. */
export class PollingWorkers {
  /** When the last advance of each session started. */
  readonly starts = new Map<string, number>();
  private readonly children: readonly ChildProcess[];
  private onStart: (sessionId: string) => void = () => undefined;

  private constructor(children: readonly ChildProcess[]) {
    this.children = children;
    for (const child of children) child.on('message', (report: PollingReport) => this.hear(report));
  }

  static async start(count: number, place: PollingPlace): Promise<PollingWorkers> {
    const children: ChildProcess[] = [];
    while (children.length < count) {
      const options = { execArgv: [...process.execArgv, ...FLAGS] };
      const started = Array.from({ length: Math.min(STARTED_AT_ONCE, count - children.length) }, () =>
        fork(WORKER, [JSON.stringify(place)], options),
      );
      await Promise.all(started.map((child) => once(child, 'message')));
      children.push(...started);
    }
    return new PollingWorkers(children);
  }

  /** Resolves when an advance of the session starts after the call. */
  async started(sessionId: string): Promise<number> {
    await new Promise<void>((resolve) => {
      this.onStart = (other) => void (other === sessionId && resolve());
      if (this.starts.has(sessionId)) resolve();
    });
    return this.starts.get(sessionId) ?? NaN;
  }

  /** The calls of all engines since the last call. */
  async counts(): Promise<PollingCounts> {
    const all = await Promise.all(this.children.map(countsOf));
    const sum = (name: keyof PollingCounts): number => all.reduce((total, one) => total + one[name], 0);
    return { due: sum('due'), taken: sum('taken'), lost: sum('lost') };
  }

  async stop(): Promise<void> {
    const ends = this.children.map((child) => once(child, 'exit'));
    for (const child of this.children) child.disconnect();
    await Promise.all(ends);
  }

  private hear(report: PollingReport): void {
    if (report.type !== 'started') return;
    this.starts.set(report.sessionId, report.at);
    this.onStart(report.sessionId);
  }
}

async function countsOf(child: ChildProcess): Promise<PollingCounts> {
  const answer = new Promise<PollingCounts>((resolve) => {
    const hear = (report: PollingReport): void => {
      if (report.type !== 'counts') return;
      child.off('message', hear);
      resolve(report.counts);
    };
    child.on('message', hear);
  });
  child.send('counts');
  return answer;
}
