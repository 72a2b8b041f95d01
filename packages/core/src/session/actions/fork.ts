import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import { AgentState } from '../../state/agent-state.ts';
import { withFreshExecution } from './inbox-content.ts';

/**
 * Options of a fork. Without `atStep` and `atMessage`, the copy has the whole conversation and is ready for its next
 * execution.
 */
export interface ForkOptions {
  /** The id of the copy. Default: a UUID. */
  readonly sessionId?: string;
  /**
   * Copies the session as it was after this number of closed steps of the last execution. `resume()` continues from
   * there, in a new execution with a full budget.
   */
  readonly atStep?: number;
  /**
   * Copies the conversation up to the message with this id, even from an earlier execution. When the message is not
   * from the assistant, `resume()` requests a response to it.
   */
  readonly atMessage?: string;
  /**
   * True when a worker continues the copy by itself, as an engine does with any unfinished execution. Default: the copy
   * waits until a call acts on it, such as `resume()`, a message or `wake` of an engine.
   */
  readonly isDue?: boolean;
  /** Copies the session as it was at this version, which the store must still have: see `SessionRuntime.revisions`. */
  readonly atVersion?: number;
}

export const checkForkOptions = optionsCheck<ForkOptions>(
  'fork',
  {
    sessionId: mustBe.string,
    atStep: mustBe.wholeNumber(0),
    atMessage: mustBe.string,
    atVersion: mustBe.wholeNumber(1),
    isDue: mustBe.boolean,
  },
  {
    id: 'use "sessionId"',
    step: 'use "atStep"',
    message: 'use "atMessage"',
    messageId: 'use "atMessage"',
    version: 'use "atVersion"',
    revision: 'use "atVersion", as in atVersion: revision.version',
  },
);

/**
 * Returns a copy of a state under new ids, at a step or at a message, or of the whole conversation.
 * @throws RangeError `ARGUMENT_INVALID` for an unknown step or message, and when both are set.
 */
export function forkState(state: AgentState, { atStep, atMessage }: ForkOptions, clock: Clock): AgentState {
  if (atStep !== undefined && atMessage !== undefined)
    throw invalidArgument('fork takes atStep or atMessage, not both.');
  if (atMessage !== undefined) return forkAtMessage(state, atMessage, clock);
  return atStep === undefined ? state.fork({ clock }) : forkAtStep(state, atStep, clock);
}

/** Omits later messages. Metadata that tools have written since stays. The copy has a pending execution. */
function forkAtStep(state: AgentState, atStep: number, clock: Clock): AgentState {
  const { stepExecutions } = state;
  checkArgument('atStep', atStep, mustBe.wholeNumber(0, stepExecutions.length));
  const later = new Set(
    stepExecutions.slice(atStep).flatMap(({ step }) => step.output.map((message) => message.id)),
  );
  const end = state.messages.toArray().findIndex(({ id }) => later.has(id));
  const copy = forkWithMessages(state, end < 0 ? state.messages.length : end, clock);
  return withFreshExecution(copy, clock, copy.updatedAt);
}

function forkAtMessage(state: AgentState, atMessage: string, clock: Clock): AgentState {
  const messages = state.messages.toArray();
  const index = messages.findIndex(({ id }) => id === atMessage);
  const last = messages[index];
  if (last === undefined)
    throw invalidArgument(
      `atMessage must be the id of a message in the conversation, found ${describeValue(atMessage)}.`,
    );
  const copy = forkWithMessages(state, index + 1, clock);
  return last.role === 'assistant' ? copy : withFreshExecution(copy, clock, copy.updatedAt);
}

function forkWithMessages(state: AgentState, length: number, clock: Clock): AgentState {
  const at = clock.now();
  // The work of an open step is later than every message of the conversation, so the copy omits it.
  const copy = AgentState.restore({ ...state, execution: undefined }).fork({ at, clock });
  if (length === state.messages.length) return copy;
  return copy.withMessages(state.messages.slice(0, length), at);
}

export function revisionGone(sessionId: string, version: number): HoldfastError {
  const message = `Version ${version} of session "${sessionId}" is not kept. List the kept versions with runtime.revisions(); the store keeps as many as its option keptRevisions sets.`;
  return new HoldfastError('REVISION_NOT_FOUND', message, { data: { sessionId, version } });
}
