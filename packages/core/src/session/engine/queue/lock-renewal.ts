import { callAfter, type Clock } from '../../../clock.ts';
import type { LockedSession, WakeUpQueue } from '../wake-up-queue.ts';

interface RenewalParts<Lock extends LockedSession> {
  readonly queue: WakeUpQueue<Lock>;
  readonly clock: Clock;
  readonly held: () => Iterable<Lock>;
  /** Called for a lock that has ended: another worker may have its session. */
  readonly onLost: (lock: Lock) => void;
  readonly onError: (error: unknown) => void;
}

/** Renews the locks of a worker, three times in the period of a lock. */
export class LockRenewal<Lock extends LockedSession> {
  private readonly parts: RenewalParts<Lock>;
  /** The locks that have ended during the work. A renewal would take their sessions from other workers. */
  private readonly lost = new WeakSet<Lock>();
  private callOff = (): void => undefined;

  constructor(parts: RenewalParts<Lock>) {
    this.parts = parts;
  }

  /** Renews again and again, until `stop`. Does nothing for a queue whose locks do not end. */
  start(): void {
    const { queue, clock } = this.parts;
    if (queue.lockSeconds === undefined) return;
    this.callOff();
    this.callOff = callAfter(clock, (queue.lockSeconds * 1_000) / 3, () => void this.renew());
  }

  stop(): void {
    this.callOff(); // a timer would keep the process alive
  }

  private async renew(): Promise<void> {
    const { queue, held, onLost, onError } = this.parts;
    this.start(); // also when this renewal fails or takes long
    try {
      const locks = [...held()].filter((lock) => !this.lost.has(lock));
      for (const lock of (await queue.renew?.(locks)) ?? []) {
        this.lost.add(lock);
        onLost(lock);
      }
    } catch (error) {
      onError(error);
    }
  }
}
