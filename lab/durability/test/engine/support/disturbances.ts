import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { RedisServer } from 'test-servers';
import { thawLater } from '../../freezes.ts';
import type { Crew } from './crew.ts';

/** The workers and the server that a soak disturbs. */
export interface Disturbed {
  readonly crew: Crew;
  readonly crewSize: number;
  readonly server: RedisServer;
  /** The file of the provider's outage. */
  readonly outageFile: string;
  readonly random: (below: number) => number;
}

/** Kills and freezes workers, restarts the server of the queue, and takes the provider down, at random. */
export class Disturbances {
  readonly counts = { killed: 0, frozen: 0, terminated: 0, restarts: 0, outages: 0 };
  private readonly disturbed: Disturbed;
  /** Disturbances that end by themselves, such as a freeze. */
  private readonly pending: Promise<unknown>[] = [];
  private isQueueDown = false;
  private isProviderDown = false;

  constructor(disturbed: Disturbed) {
    this.disturbed = disturbed;
  }

  /** Causes one disturbance. */
  disturb(): void {
    const { random } = this.disturbed;
    const kind = random(20);
    if (kind < 2) this.restartQueue(random(3_000));
    else if (kind < 4) this.stopProvider(500 + random(2_000));
    else this.disturbWorker(kind);
  }

  /** Waits until all disturbances have ended. */
  async end(): Promise<void> {
    await Promise.all(this.pending);
  }

  private disturbWorker(kind: number): void {
    const { crew, crewSize, random } = this.disturbed;
    const worker = crew.ready(random(crewSize));
    if (worker === undefined) return;
    if (kind < 6) {
      this.counts.terminated++;
      crew.end(worker, 'SIGTERM');
    } else if (kind < 13) {
      this.counts.killed++;
      crew.end(worker, 'SIGKILL');
    } else {
      this.counts.frozen++;
      worker.kill('SIGSTOP');
      this.pending.push(thawLater(worker, 0.2 + random(4_000) / 1_000));
    }
  }

  private restartQueue(milliseconds: number): void {
    if (this.isQueueDown) return;
    this.isQueueDown = true;
    this.counts.restarts++;
    const restart = async (): Promise<void> => {
      await this.disturbed.server.kill();
      await pause(milliseconds);
      await this.disturbed.server.restart();
      this.isQueueDown = false;
    };
    this.pending.push(restart());
  }

  private stopProvider(milliseconds: number): void {
    if (this.isProviderDown) return;
    this.isProviderDown = true;
    this.counts.outages++;
    writeFileSync(this.disturbed.outageFile, '');
    const restore = async (): Promise<void> => {
      await pause(milliseconds);
      rmSync(this.disturbed.outageFile);
      this.isProviderDown = false;
    };
    this.pending.push(restore());
  }
}
