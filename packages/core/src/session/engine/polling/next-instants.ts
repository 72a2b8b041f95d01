import type { Instant } from '../../../clock.ts';

const MAX_INSTANTS = 1_000;

/** The next instants at which something happens, each once. It forgets the furthest beyond 1,000. */
export class NextInstants {
  private readonly instants: Instant[] = [];

  get first(): Instant | undefined {
    return this.instants[0];
  }

  add(instant: Instant): void {
    const { instants } = this;
    const place = instants.findIndex((other) => other >= instant);
    if (instants[place] === instant) return;
    instants.splice(place === -1 ? instants.length : place, 0, instant);
    if (instants.length > MAX_INSTANTS) instants.pop();
  }

  removeUntil(now: Instant): void {
    const place = this.instants.findIndex((instant) => instant > now);
    this.instants.splice(0, place === -1 ? this.instants.length : place);
  }
}
