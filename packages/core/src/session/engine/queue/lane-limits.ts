import { mustBe, optionsCheck } from '../../../arguments.ts';
import type { LaneLimits } from './lane-turns.ts';

/** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown limit or an invalid value. */
export function checkLanes(lanes: Readonly<Record<string, LaneLimits>>): void {
  const checkLane = optionsCheck<LaneLimits>('a lane', { concurrency: mustBe.wholeNumber(1) });
  for (const [name, limits] of Object.entries(lanes)) checkLane(limits, `lane "${name}"`);
}
