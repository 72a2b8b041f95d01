import { invalidArgument } from '../errors.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { StopReason } from '../state/continuation.ts';
import type { Hook, HookContext } from './hook.ts';

/** Guards look before other hooks do. */
const GUARD_PRIORITY = 1_000;

/**
 * Stops before a step beyond the limit. Steps are counted in the execution, so the count holds over resume,
 * approval and another process.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a whole number of at least 0.
 */
export function stepsLimit(maxSteps: number): Hook {
  if (!Number.isInteger(maxSteps) || maxSteps < 0) throw notALimit('stepsLimit', maxSteps);
  return guard('stepsLimit', 'stepsLimitReached', maxSteps, 'steps', (state) => state.stepCount);
}

/**
 * Stops before a step once input and output tokens together have reached the limit.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a number of at least 0.
 */
export function tokenLimit(maxTokens: number): Hook {
  if (!(maxTokens >= 0)) throw notALimit('tokenLimit', maxTokens);
  return guard('tokenLimit', 'tokenLimitReached', maxTokens, 'tokens', (state) => state.usage.totalTokens);
}

function guard(
  name: string,
  reason: StopReason,
  limit: number,
  unit: string,
  spentOf: (state: AgentState) => number,
): Hook {
  return Object.freeze({
    name,
    priority: GUARD_PRIORITY,
    beforeStep(state: AgentState, { clock }: HookContext): AgentState | undefined {
      const spent = spentOf(state);
      if (spent < limit) return undefined;
      const message = `${spent} of ${limit} ${unit} are used up.`;
      return state.withStopSignal({ reason, message, context: { limit, spent }, source: name }, clock.now());
    },
  });
}

function notALimit(name: string, found: number): RangeError {
  return invalidArgument(`${name} takes a number of at least 0, found ${String(found)}.`);
}
