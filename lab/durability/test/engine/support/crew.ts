import type { Ended, WorkerProcess } from '../../worker-process.ts';
import type { World } from '../../world.ts';

/** Workers that are started again when they end. */
export class Crew {
  /** The number of workers that their own sessions killed. */
  deaths = 0;
  /** The error output of the workers, and the exit codes of those that failed. */
  private readonly surprises: string[] = [];
  private readonly world: World;
  private readonly settings: Parameters<World['start']>[1];
  private readonly workers: WorkerProcess[];
  private readonly expected = new Set<WorkerProcess>();
  private isLeaving = false;

  constructor(world: World, size: number, settings: Parameters<World['start']>[1]) {
    this.world = world;
    this.settings = settings;
    this.workers = Array.from({ length: size }, (_, index) => this.start(index));
  }

  /** Returns a worker that serves and that nothing has happened to; `undefined` when it does not serve yet. */
  ready(index: number): WorkerProcess | undefined {
    const worker = this.workers[index];
    return worker?.hasSpoken && !this.expected.has(worker) ? worker : undefined;
  }

  /** Ends a worker by a signal. Another one starts in its place. */
  end(worker: WorkerProcess, signal: 'SIGKILL' | 'SIGTERM'): void {
    this.expected.add(worker);
    worker.kill(signal);
  }

  /** Lets all workers end. Returns what went wrong in all workers. */
  async leave(): Promise<readonly string[]> {
    this.isLeaving = true;
    for (const worker of this.workers) worker.leave();
    await Promise.all(this.workers.map(({ ended }) => ended));
    return this.surprises;
  }

  private start(index: number): WorkerProcess {
    const worker = this.world.start(['serve'], this.settings);
    void worker.ended.then((end) => this.replace(index, worker, end));
    return worker;
  }

  private replace(index: number, worker: WorkerProcess, { code, signal, complaints }: Ended): void {
    const isKilled = signal === 'SIGKILL';
    if (complaints !== '') this.surprises.push(complaints);
    if (!isKilled && code !== 0) this.surprises.push(`a worker ended with ${code ?? signal}`);
    if (isKilled && !this.expected.has(worker)) this.deaths++;
    if (!this.isLeaving) this.workers[index] = this.start(index);
  }
}
