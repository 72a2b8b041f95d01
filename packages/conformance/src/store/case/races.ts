import assert from 'node:assert/strict';
import { shown } from '../../run/differences.ts';
import { failureAt } from '../../run/failures.ts';

const MAX_CALLERS = 5;

/**
 * Waits for callers that race, and returns the result of the only caller that succeeded.
 * @param assertLoser asserts the error of each other caller
 */
export async function onlyWinner<T>(
  calls: readonly Promise<T>[],
  assertLoser: (error: unknown, winner: T) => void = () => undefined,
): Promise<T> {
  const results = await Promise.allSettled(calls);
  const winners = results.flatMap((result, index) =>
    result.status === 'fulfilled' ? [{ caller: index + 1, value: result.value }] : [],
  );
  const [winner] = winners;
  assert(winner && winners.length === 1, unexpectedWinners(results, winners));
  for (const [index, result] of results.entries()) {
    if (result.status === 'fulfilled') continue;
    try {
      assertLoser(result.reason, winner.value);
    } catch (error) {
      throw failureAt(`the refusal of caller ${index + 1} of ${calls.length}`, error);
    }
  }
  return winner.value;
}

function unexpectedWinners(
  results: readonly PromiseSettledResult<unknown>[],
  winners: readonly { readonly caller: number }[],
): string {
  const expected = `expected exactly 1 of ${results.length} callers to succeed, found ${winners.length}`;
  const refusal = results.find((result) => result.status === 'rejected');
  if (winners.length === 0) return `${expected}; the first error: ${shown(refusal?.reason)}`;
  const callers = winners.slice(0, MAX_CALLERS).map(({ caller }) => caller);
  return `${expected}: callers ${callers.join(', ')}${winners.length > MAX_CALLERS ? ', …' : ''}`;
}

/** Asserts that a caller was refused with a conflict of this kind. */
export const refusedAs =
  (kind: string) =>
  (error: unknown): void => {
    const isRefused = error instanceof Error && 'kind' in error && error.kind === kind;
    assert(isRefused, `expected a conflict of kind ${kind}, found ${shown(error)}`);
  };
