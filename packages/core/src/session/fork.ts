import type { Clock } from '../clock.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import { AgentState } from '../state/agent-state.ts';
import { ExecutionState } from '../state/execution.ts';
import { ExecutionId } from '../state/ids.ts';

/**
 * A copy of a state under its own ids, as it was after so many finished steps of its last execution, ready to go on from
 * there: what was said later is left out. What tools have written into the metadata since stays.
 * @throws RangeError `ARGUMENT_INVALID` for a step that was not taken.
 */
export function forkedAtStep(state: AgentState, atStep: number, clock: Clock): AgentState {
  const { stepExecutions } = state;
  if (!Number.isInteger(atStep) || atStep < 0 || atStep > stepExecutions.length) {
    throw invalidArgument(
      `atStep must be from 0 to ${stepExecutions.length}, the steps that were finished, found ${describeValue(atStep)}.`,
    );
  }
  const at = clock.now();
  const later = new Set(
    stepExecutions.slice(atStep).flatMap(({ step }) => step.output.map((message) => message.id)),
  );
  const messages = state.messages.toArray();
  const end = messages.findIndex(({ id }) => later.has(id));
  const copy = state.forked({ at, clock });
  const told = end < 0 ? copy : copy.withMessages(messages.slice(0, end), at);
  return AgentState.restore({
    ...told,
    execution: ExecutionState.fresh({ id: ExecutionId.create(clock), at }),
  });
}
