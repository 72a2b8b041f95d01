import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { CapacityOrder, CapacityReport, CapacityTask } from './capacity-task.ts';

const WORKER = new URL('./capacity-worker.ts', import.meta.url);

/** A process that creates suspended sessions, and serves. */
export class CapacityProcess {
  onWoken: (sessionId: string, late: number) => void = () => undefined;
  onFinished: (sessionId: string) => void = () => undefined;
  private readonly child: ChildProcess;
  private onReport: (report: CapacityReport) => void = () => undefined;
  private onExit: (error: Error) => void = () => undefined;

  private constructor(task: CapacityTask) {
    this.child = fork(WORKER, [JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.child.once('exit', () => this.onExit(new Error('A worker ended too early.')));
    this.child.on('message', (report: CapacityReport) => {
      if (report.type === 'finished') this.onFinished(report.sessionId);
      else if (report.type === 'woken') this.onWoken(report.sessionId, report.late);
      else this.onReport(report);
    });
  }

  static async start(task: CapacityTask): Promise<CapacityProcess> {
    const started = new CapacityProcess(task);
    await started.next();
    return started;
  }

  /** Sends an order, and returns the report of its end. */
  async do(order: CapacityOrder): Promise<CapacityReport> {
    const report = this.next();
    this.child.send(order);
    return report;
  }

  /** Milliseconds of CPU of the process. */
  async cpu(): Promise<number> {
    const report = await this.do({ type: 'count' });
    return report.type === 'counted' ? report.cpu : NaN;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.send({ type: 'stop' } satisfies CapacityOrder);
    await exited;
  }

  private async next(): Promise<CapacityReport> {
    return new Promise((resolve, reject) => {
      this.onReport = resolve;
      this.onExit = reject;
    });
  }
}
