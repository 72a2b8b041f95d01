import { invalidArgument } from '@holdfast/core';
import { mustBe, optionsCheck } from '@holdfast/core/engine';

/** So many sessions of a lane start in a period. */
export interface LaneRate {
  /** The number of sessions. */
  readonly max: number;
  /** The length of the period. */
  readonly seconds: number;
}

/** The limits of one lane. They hold for all workers together. */
export interface BullmqLaneLimits {
  /** How many sessions of the lane all workers work on at the same time; no limit when absent. */
  readonly concurrency?: number | undefined;
  /** How many sessions of the lane all workers start in a period; no limit when absent. A session takes one step each time. */
  readonly rate?: LaneRate | undefined;
}

const checkRate = optionsCheck<LaneRate>('the rate of a lane', {
  max: mustBe.required(mustBe.wholeNumber(1)),
  seconds: mustBe.required(mustBe.seconds),
});
const checkLimits = optionsCheck<BullmqLaneLimits>('a lane', {
  concurrency: mustBe.wholeNumber(1),
  rate: mustBe.object,
});

/** Each worker has a connection for each lane. */
export const MOST_LANES = 100;

export function tooManyLanes(lane: string | undefined): Error {
  const advice =
    'A lane is for a limit, such as that of a provider. For owners, set the group of their sessions.';
  return invalidArgument(
    `The lane "${lane}" is one too many: an engine has at most ${MOST_LANES} lanes. ${advice}`,
  );
}

/** @throws RangeError or TypeError `ARGUMENT_INVALID` */
export function checkLanes(lanes: Readonly<Record<string, BullmqLaneLimits>>): void {
  const names = Object.keys(lanes);
  if (names.length > MOST_LANES) throw tooManyLanes(names[MOST_LANES]);
  for (const [name, limits] of Object.entries(lanes)) {
    const { rate } = checkLimits(limits, `lane "${name}"`);
    if (rate) checkRate(rate, `the rate of lane "${name}"`);
  }
}
