import { mustBe, optionsCheck } from '../../arguments.ts';
import type { LaneLimits } from './lane-turns.ts';

const checkLane = optionsCheck<LaneLimits>('a lane', { concurrency: mustBe.wholeNumber(1) });

/** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown limit or an invalid value. */
export function checkLanes(lanes: Readonly<Record<string, LaneLimits>>): void {
  for (const [name, limits] of Object.entries(lanes)) checkLane(limits, `lane "${name}"`);
}
