import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { checkSessionId } from '../store/backend/store-arguments.ts';
import type { AdvanceResult } from './engine.ts';

export const ADVICE_OF_ENGINES = {
  concurrency: 'pass it to serve, as in engine.serve(advance, { concurrency: 8 })',
  onError: 'pass it to serve, as in engine.serve(advance, { onError })',
};

/** Accepts an instant, also one with a fraction of a millisecond. */
export const INSTANT = { ...mustBe.instant, accepts: Number.isFinite };

export const SCHEDULE = {
  lane: mustBe.string,
  priority: { expected: 'a number', accepts: Number.isFinite, type: 'number' },
  group: mustBe.string,
} as const;

const checkNext = optionsCheck<NonNullable<AdvanceResult['next']>>('`next` of an advance', {
  agentName: mustBe.string,
  ...SCHEDULE,
});

/** @throws TypeError or RangeError `ARGUMENT_INVALID` for a value that an engine cannot follow. */
export function checkResult({ outcome, wake, next = { agentName: '' } }: AdvanceResult): void {
  const expected = "an outcome, such as { type: 'finished' }";
  checkArgument('`outcome` of an advance', outcome, { ...mustBe.object, expected });
  if ('until' in outcome && outcome.until !== undefined)
    checkArgument('`until` of an outcome', outcome.until, INSTANT);
  checkNext(next);
  for (const sessionId of wake) checkSessionId(sessionId);
}
