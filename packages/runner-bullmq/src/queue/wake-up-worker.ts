import type { WakeUp } from '@holdfast/core/engine';
import { Worker, type Job, type Processor, type WorkerOptions } from 'bullmq';
import { isWakeUp } from '../layout/readable.ts';

/** The options of a worker, and what removes the job that a worker has locked with a token and cannot read. */
export interface WakeUpWorkerOptions extends WorkerOptions {
  readonly dropJob: (base: string, token: string) => Promise<void>;
}

type JobJson = Parameters<Worker['nextJobFromJobData']>[0];

/**
 * A worker of BullMQ that drops jobs without a readable wake-up. BullMQ makes such a job when another program deletes the
 * hash of a job that waits, and the job would come back for ever.
 */
export class WakeUpWorker<T extends WakeUp> extends Worker<T, void> {
  private readonly dropJob: WakeUpWorkerOptions['dropJob'];
  /** The number of dropped jobs. */
  private dropped = 0;

  constructor(
    name: string,
    processor: Processor<T, void> | null,
    { dropJob, ...options }: WakeUpWorkerOptions,
  ) {
    super(name, processor, options);
    this.dropJob = dropJob;
  }

  /** Lets the next call of `getNextJob` wait for a job before it looks. */
  async noteEmpty(): Promise<undefined> {
    await super.nextJobFromJobData(); // as for the reply without a job
  }

  /** Takes the next job that can be read. */
  protected override async moveToActive(token: string, name?: string): Promise<Job<T, void>> {
    for (;;) {
      const { dropped } = this;
      const job = await super.moveToActive(token, name).catch((error: unknown) => this.drop(token, error));
      if (job !== undefined || this.dropped === dropped) return job as Job<T, void>; // BullMQ returns `undefined` without a job
    }
  }

  protected override async nextJobFromJobData(
    jobData?: JobJson,
    jobId?: string,
    token = '',
  ): Promise<Job<T, void>> {
    const job: Job<T, void> | undefined = await super.nextJobFromJobData(jobData, jobId, token);
    return (job === undefined || isWakeUp(job.data) ? job : await this.drop(token)) as Job<T, void>;
  }

  /** Drops the job of a token. Rejects with `error` when BullMQ could read the job. */
  private async drop(token: string, error: unknown = new SyntaxError()): Promise<undefined> {
    if (!(error instanceof SyntaxError)) return Promise.reject(error);
    this.dropped++;
    await this.dropJob(this.toKey(''), token);
  }
}
