import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerOrder, WorkerReport, WorkerTask } from './engine-task.ts';

const WORKER = new URL('./engine-worker.ts', import.meta.url);

/** A report of one type. */
type ReportOf<Type extends WorkerReport['type']> = Extract<WorkerReport, { readonly type: Type }>;

/** A process that works on sessions. */
export class WorkerProcess {
  private readonly child: ChildProcess;
  private readonly waits = new Map<string, (report: WorkerReport) => void>();
  private onExit: (error: Error) => void = () => undefined;

  private constructor(child: ChildProcess, onReport: (report: WorkerReport, worker: WorkerProcess) => void) {
    this.child = child;
    child.once('exit', () => this.onExit(new Error('A worker ended too early.')));
    child.on('message', (report: WorkerReport) => {
      const wait = this.waits.get(report.type);
      this.waits.delete(report.type);
      wait?.(report);
      onReport(report, this);
    });
  }

  /** Starts a process that does not serve yet. */
  static async start(
    task: WorkerTask,
    onReport: (report: WorkerReport, worker: WorkerProcess) => void,
  ): Promise<WorkerProcess> {
    const child = fork(WORKER, [JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const worker = new WorkerProcess(child, onReport);
    await worker.next('ready');
    return worker;
  }

  async serve(sessionIds: readonly string[] = []): Promise<void> {
    const serving = this.next('serving');
    this.order({ type: 'serve', sessionIds });
    await serving;
  }

  order(order: WorkerOrder): void {
    this.child.send(order);
  }

  /** Returns the CPU of the process since it serves, and the answers of its models. */
  async count(): Promise<ReportOf<'counted'>> {
    const counted = this.next('counted');
    this.order({ type: 'count' });
    return counted;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.order({ type: 'stop' });
    await exited;
  }

  async kill(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  private async next<Type extends WorkerReport['type']>(type: Type): Promise<ReportOf<Type>> {
    return new Promise((resolve, reject) => {
      this.onExit = reject;
      this.waits.set(type, (report) => resolve(report as ReportOf<Type>));
    });
  }
}
