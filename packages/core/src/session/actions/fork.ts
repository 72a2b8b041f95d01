import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import { AgentState } from '../../state/agent-state.ts';
import { ExecutionState } from '../../state/execution/execution.ts';
import { ExecutionId } from '../../state/values/ids.ts';

/** Where a fork leaves its original: at neither place, after all that was said, ready for its next execution. */
export interface ForkOptions {
  /** The id of the copy; default: a UUID. */
  readonly sessionId?: string;
  /**
   * After so many finished steps of the last execution; `resume()` goes on from there. It is a new execution, whose budget
   * counts from the start.
   */
  readonly atStep?: number;
  /** After the message of this id, however long ago it was said; when it is no answer, `resume()` asks for one. */
  readonly atMessage?: string;
}

export const checkForkOptions = optionsCheck<ForkOptions>(
  'fork',
  { sessionId: mustBe.string, atStep: mustBe.wholeNumber(0), atMessage: mustBe.string },
  {
    id: 'write "sessionId"',
    step: 'write "atStep"',
    message: 'write "atMessage"',
    messageId: 'write "atMessage"',
  },
);

/** @throws RangeError `ARGUMENT_INVALID` for a step or a message that there is not, and for both. */
export function forkState(state: AgentState, { atStep, atMessage }: ForkOptions, clock: Clock): AgentState {
  if (atStep !== undefined && atMessage !== undefined)
    throw invalidArgument('A fork is at a step or at a message, not at both.');
  if (atMessage !== undefined) return forkAtMessage(state, atMessage, clock);
  return atStep === undefined ? state.fork({ clock }) : forkAtStep(state, atStep, clock);
}

/**
 * A copy of a state under its own ids, as it was after so many finished steps of its last execution, ready to go on from
 * there: what was said later is left out. What tools have written into the metadata since stays.
 * @throws RangeError `ARGUMENT_INVALID` for a step that was not taken.
 */
function forkAtStep(state: AgentState, atStep: number, clock: Clock): AgentState {
  const { stepExecutions } = state;
  if (atStep > stepExecutions.length) {
    throw invalidArgument(
      `atStep must be from 0 to ${stepExecutions.length}, the steps that were finished, found ${describeValue(atStep)}.`,
    );
  }
  const later = new Set(
    stepExecutions.slice(atStep).flatMap(({ step }) => step.output.map((message) => message.id)),
  );
  const end = state.messages.toArray().findIndex(({ id }) => later.has(id));
  return withPendingExecution(forkWithMessages(state, end < 0 ? state.messages.length : end, clock), clock);
}

/**
 * A copy of a state under its own ids, with the conversation up to a message. When an answer should follow on it, `resume()`
 * asks for one.
 * @throws RangeError `ARGUMENT_INVALID` when there is no such message.
 */
function forkAtMessage(state: AgentState, atMessage: string, clock: Clock): AgentState {
  const messages = state.messages.toArray();
  const index = messages.findIndex(({ id }) => id === atMessage);
  const last = messages[index];
  if (last === undefined)
    throw invalidArgument(`atMessage: there is no message ${describeValue(atMessage)} in the conversation.`);
  const copy = forkWithMessages(state, index + 1, clock);
  return last.role === 'assistant' ? copy : withPendingExecution(copy, clock);
}

function forkWithMessages(state: AgentState, length: number, clock: Clock): AgentState {
  const at = clock.now();
  // What an open step has done is later than any place in the conversation.
  const copy = AgentState.restore({ ...state, execution: undefined }).fork({ at, clock });
  if (length === state.messages.length) return copy;
  return copy.withMessages(state.messages.slice(0, length), at);
}

function withPendingExecution(copy: AgentState, clock: Clock): AgentState {
  const execution = ExecutionState.create({ id: ExecutionId.create(clock), at: copy.updatedAt });
  return AgentState.restore({ ...copy, execution });
}
