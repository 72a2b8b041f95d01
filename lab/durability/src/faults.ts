import { StoreUnavailableError } from '@holdfast/core';

/** The places in the work at which a fault can happen. */
export const PLACES = [
  'before-claim',
  'after-claim',
  'inference',
  'before-effect',
  'after-effect',
  'before-save',
  'mid-save',
  'after-save',
  'before-release',
  'after-release',
  'before-retry',
  'after-retry',
] as const;

export type Place = (typeof PLACES)[number];

/**
 * `kill`: SIGKILL. `stop`: the session does nothing more, as if its process had been killed; in the middle of a save, the
 * process is killed. `freeze`: SIGSTOP. `lose-reply`: the store does the write, and its reply does not arrive.
 */
type FaultAct = 'kill' | 'stop' | 'freeze' | 'lose-reply';

/** The fault at the nth visit of a place, from 1. */
export interface Fault {
  readonly place: Place;
  readonly nth: number;
  readonly act: FaultAct;
}

export function faultText({ place, nth, act }: Fault): string {
  return `${place}:${nth}:${act}`;
}

function parseFault(text: string): Fault {
  const [place, nth, act] = text.split(':');
  return { place: place as Place, nth: Number(nth), act: act as FaultAct };
}

/** Counts the visits of places, by a process or by one of its sessions, and triggers the fault at one of them. */
export class Faults {
  readonly counts: Partial<Record<Place, number>> = {};
  private readonly fault: Fault | undefined;
  private readonly onStop: () => void;
  private isStopped = false;

  /**
   * @param text As `faultText` makes it; absent: nothing happens.
   * @param onStop called when the session stops
   */
  constructor(text: string | undefined, onStop: () => void = () => undefined) {
    this.fault = text ? parseFault(text) : undefined;
    this.onStop = onStop;
  }

  /** Never returns in a session that has stopped. */
  async reach(place: Place): Promise<void> {
    await this.pass();
    this.reachNow(place);
    await this.pass();
  }

  /** Never returns in a session that has stopped. */
  async pass(): Promise<void> {
    if (this.isStopped) await new Promise(() => undefined);
  }

  /** Reaches a place at which the code cannot wait. */
  reachNow(place: Place): void {
    const count = (this.counts[place] ?? 0) + 1;
    this.counts[place] = count;
    const { fault } = this;
    if (fault?.place !== place || fault.nth !== count) return;
    switch (fault.act) {
      case 'kill':
        process.kill(process.pid, 'SIGKILL');
        break;
      case 'stop':
        if (place === 'mid-save') process.kill(process.pid, 'SIGKILL');
        this.isStopped = true;
        this.onStop();
        break;
      case 'freeze':
        process.kill(process.pid, 'SIGSTOP');
        break;
      case 'lose-reply':
        throw new StoreUnavailableError('The reply was lost.', { isAmbiguous: true });
    }
  }
}
