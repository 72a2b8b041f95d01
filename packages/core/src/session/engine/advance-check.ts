import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { checkSessionId } from '../store/store-arguments.ts';
import type { AdvanceResult } from './engine.ts';

/** Accepts an instant, also one with a fraction of a millisecond. */
export const INSTANT = { ...mustBe.instant, accepts: Number.isFinite };

/** The checks of a schedule. */
export const SCHEDULE = {
  lane: mustBe.string,
  priority: { expected: 'a number', accepts: Number.isFinite, type: 'number' },
  group: mustBe.string,
} as const;

const checkNext = optionsCheck<NonNullable<AdvanceResult['next']>>('`next` of an advance', {
  agentName: mustBe.string,
  ...SCHEDULE,
});
const OUTCOME = { ...mustBe.object, expected: "an outcome, such as { type: 'finished' }" };

/** @throws TypeError or RangeError `ARGUMENT_INVALID` for a value that an engine cannot follow. */
export function checkResult({ outcome, wake, next = { agentName: '' } }: AdvanceResult): void {
  checkArgument('`outcome` of an advance', outcome, OUTCOME);
  if ('until' in outcome && outcome.until !== undefined)
    checkArgument('`until` of an outcome', outcome.until, INSTANT);
  checkNext(next);
  for (const sessionId of wake) checkSessionId(sessionId);
}
