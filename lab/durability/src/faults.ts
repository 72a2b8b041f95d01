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

/** `kill`: SIGKILL. `freeze`: SIGSTOP. `lose-reply`: the store does the write, and its reply does not arrive. */
type FaultAct = 'kill' | 'freeze' | 'lose-reply';

/** The fault of a process at the nth visit of a place, from 1. */
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

/** Counts the visits of places in this process, and triggers the fault at one of them. */
export class Faults {
  readonly counts: Partial<Record<Place, number>> = {};
  private readonly fault: Fault | undefined;

  /** @param text As `faultText` makes it; absent: nothing happens. */
  constructor(text: string | undefined) {
    this.fault = text ? parseFault(text) : undefined;
  }

  reach(place: Place): void {
    const count = (this.counts[place] ?? 0) + 1;
    this.counts[place] = count;
    const { fault } = this;
    if (fault?.place !== place || fault.nth !== count) return;
    switch (fault.act) {
      case 'kill':
        process.kill(process.pid, 'SIGKILL');
        break;
      case 'freeze':
        process.kill(process.pid, 'SIGSTOP');
        break;
      case 'lose-reply':
        throw new StoreUnavailableError('The reply was lost.', { isAmbiguous: true });
    }
  }
}
