import {
  checkArgument,
  mustBe,
  optionsCheck,
  type ArgumentCheck,
  type OptionsCheck,
} from '../../arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { nextAction } from '../../loop/steps/stepper.ts';
import { withStop } from '../../loop/stopping/final-stop.ts';
import { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import { ExecutionState } from '../../state/execution/execution.ts';
import { ExecutionId } from '../../state/values/ids.ts';
import { withExecutionTag } from '../../state/messages/message-tags.ts';
import {
  userMessage,
  type MessageOptions,
  type Messages,
  type UserMessage,
  type UserPart,
} from '../../state/messages/messages.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { ANSWER_CHECKS, requireOneResult, withAnswer, type GivenAnswer } from './answer.ts';
import { DECISION_CHECKS, withDecision, type Decision } from './approval.ts';
import { withRetry } from './retry.ts';
import type { InboxItem } from '../session-claim.ts';

/** An inbox item, before or after it has a position. */
type EnqueuedItem = Omit<InboxItem, 'position'>;

/** The content of an inbox item that a worker can use. */
export type InboxContent =
  | {
      readonly type: 'message';
      readonly content: string | readonly UserPart[];
      readonly metadata?: JsonObject;
    }
  /**
   * Ends the execution `stopped`. A worker at work aborts its run as soon as it reads the item. With `executionId`, the
   * item ends only this execution: a stop that arrives late does not end the next one.
   */
  | { readonly type: 'stop'; readonly reason?: string; readonly executionId?: string }
  | ({ readonly type: 'decision' } & Decision)
  /** Answers a call, as `answer()` and `answerError()` do. */
  | ({ readonly type: 'answer' } & GivenAnswer)
  /** Repeats the failed inference, as `retry()` does. */
  | { readonly type: 'retry' }
  /**
   * A child session has ended. The item itself changes nothing: the worker that uses it checks which children have
   * ended.
   */
  | { readonly type: 'child-ended'; readonly sessionId: string };

/** The result of using an item. */
export interface AppliedItem {
  readonly state: AgentState;
  /** The reason why the item had no effect; `undefined` when it had one. */
  readonly ignored?: string;
}

/** The content of a user message. */
export const MESSAGE_CONTENT: ArgumentCheck = {
  expected: 'a string or an array of parts that is not empty',
  accepts: (value) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0,
  type: 'string',
};

const TYPE = mustBe.anything;
type OfType<Type extends InboxContent['type']> = Extract<InboxContent, { readonly type: Type }>;

const checkAnswer = optionsCheck<OfType<'answer'>>('an inbox answer', { type: TYPE, ...ANSWER_CHECKS });

function checkedAnswer<Given extends OfType<'answer'>>(content: Given): Given {
  return requireOneResult(checkAnswer(content));
}

const CONTENT_CHECKS: { readonly [Type in InboxContent['type']]: OptionsCheck<OfType<Type>> } = {
  message: optionsCheck<OfType<'message'>>(
    'an inbox message',
    { type: TYPE, content: mustBe.required(MESSAGE_CONTENT), metadata: mustBe.object },
    { text: 'use "content"', id: 'pass it beside the content, as in enqueue(sessionId, content, { id })' },
  ),
  stop: optionsCheck<OfType<'stop'>>('an inbox stop', {
    type: TYPE,
    reason: mustBe.string,
    executionId: mustBe.string,
  }),
  decision: optionsCheck<OfType<'decision'>>('an inbox decision', { type: TYPE, ...DECISION_CHECKS }),
  answer: checkedAnswer,
  retry: optionsCheck<OfType<'retry'>>('an inbox retry', { type: TYPE }),
  'child-ended': optionsCheck<OfType<'child-ended'>>('an inbox child-ended', {
    type: TYPE,
    sessionId: mustBe.required(mustBe.string),
  }),
};

const CONTENT_TYPE = mustBe.oneOf(Object.keys(CONTENT_CHECKS));

/**
 * Returns the content if a worker can use it.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for invalid content.
 */
export function checkedContent(content: InboxContent): InboxContent {
  checkArgument('The content of an inbox item', content, mustBe.object);
  checkArgument('The type of an inbox item', content.type, CONTENT_TYPE);
  const check: OptionsCheck<never> = CONTENT_CHECKS[content.type];
  return check(content as never);
}

const MAX_RESERVE_LENGTH = 200;

/**
 * Returns the name under which a full inbox stores an item beyond its limit, as `EnqueueOptions.reserve`; `undefined` for a
 * message. Items of one name have the same effect. An answer that does not fit its schema keeps another answer to the same
 * call out of a full inbox, until a worker has read it.
 */
export function reserveOf(content: InboxContent): string | undefined {
  const name = effectOf(content);
  return name !== undefined && name.length <= MAX_RESERVE_LENGTH ? name : undefined;
}

function effectOf(content: InboxContent): string | undefined {
  switch (content.type) {
    case 'message':
      return undefined;
    case 'stop':
      return content.executionId === undefined ? 'stop' : `stop ${content.executionId}`;
    case 'decision': {
      const { toolExecutionId, decision, requestedAt = '' } = content;
      return `${decision} ${toolExecutionId} ${requestedAt}`;
    }
    case 'answer':
      return `answer ${content.toolExecutionId}`;
    case 'retry':
      return 'retry';
    case 'child-ended':
      return `child ${content.sessionId}`;
  }
}

/**
 * Returns the state as it will be after a worker has used the item. The caller that enqueued a message receives this
 * state: it must not take the response to an earlier message for the response to its own.
 */
export async function expectedState(
  state: AgentState,
  item: EnqueuedItem,
  parts: ItemParts,
): Promise<AgentState> {
  const ready = mustWaitForEnd(state, item) ? state.forNextExecution(parts.clock.now()) : state;
  return (await withInboxItem(ready, item, parts)).state;
}

/**
 * True when the item must wait for the end of the execution: an execution that only has to finish, or was stopped before
 * it began, responds to no more messages.
 */
export function mustWaitForEnd(state: AgentState, { content }: EnqueuedItem): boolean {
  return isJsonObject(content) && content['type'] === 'message' && isEnding(state);
}

/** True for an unfinished execution that takes no further step: it only has to finish, or it was stopped. */
export function isEnding(state: AgentState): boolean {
  if (!state.hasActiveExecution) return false;
  return state.execution?.continuation.isStopped === true || nextAction(state).type === 'finish';
}

/**
 * Returns the reason for which an item requests to stop this execution; `undefined` when the item does not request it.
 */
export function stopReasonOf({ content }: EnqueuedItem, executionId: string | undefined): string | undefined {
  if (!isJsonObject(content) || content['type'] !== 'stop') return undefined;
  const { reason, executionId: named = executionId } = content;
  if (named !== executionId) return undefined;
  return typeof reason === 'string' ? reason : 'An inbox item requested the stop.';
}

/** The parts of a runtime that the use of an item needs. */
export interface ItemParts {
  readonly clock: Clock;
  /** Returns the loop of the session's agent, for an answer or an edited call. @throws HoldfastError `AGENT_NOT_FOUND`. */
  readonly loop: () => AgentLoop;
}

/**
 * Returns the state after an item was used. An item that cannot be used is ignored, with the reason: it must not block
 * other items.
 * @throws HoldfastError `AGENT_NOT_FOUND` for an answer or an edited call when the runtime does not have the agent.
 */
export async function withInboxItem(
  state: AgentState,
  item: EnqueuedItem,
  { clock, loop }: ItemParts,
): Promise<AppliedItem> {
  if (!isJsonObject(item.content)) return { state, ignored: 'The content is not an object.' };
  const content = item.content as unknown as InboxContent;
  const tools = needsTools(content) ? loop().tools : undefined;
  const at = clock.now();
  try {
    switch (content.type) {
      case 'message': {
        if (hasMessage(state, item.id))
          return { state, ignored: 'The conversation has a message with this id.' };
        const { metadata } = content;
        const options = { id: item.id, createdAt: item.enqueuedAt, ...(metadata && { metadata }) };
        return { state: withMessage(state, content.content, options, clock, at) };
      }
      case 'stop':
        return stoppedBy(item, state, at);
      case 'decision': // decided when it was enqueued, however late a worker uses it
        return {
          state: await withDecision(state, content, tools, Math.min(at, item.enqueuedAt), clock),
        };
      case 'answer':
        return { state: await withAnswer(state, content, tools, Math.min(at, item.enqueuedAt), clock) };
      case 'retry': {
        const retried = withRetry(state, at);
        return retried === state
          ? { state, ignored: 'The session has no failed inference or execution.' }
          : { state: retried };
      }
      case 'child-ended':
        return { state };
      default:
        return { state, ignored: 'The content has an unknown type.' };
    }
  } catch (error) {
    return { state, ignored: error instanceof Error ? error.message : 'The content is unreadable.' };
  }
}

/** True for an answer, and for a decision with other arguments: the schema of a tool checks them. */
function needsTools(content: InboxContent): boolean {
  return content.type === 'answer' || (content.type === 'decision' && content.input !== undefined);
}

function stoppedBy(item: EnqueuedItem, state: AgentState, at: Instant): AppliedItem {
  if (!state.hasActiveExecution) return { state, ignored: 'The session has no active execution.' };
  const message = stopReasonOf(item, state.executionId);
  if (message === undefined) return { state, ignored: 'The stop names an execution that is not active.' };
  return { state: withStop(state, stopSignal({ reason: 'userRequested', message, source: 'inbox' }), at) };
}

/** True when the conversation has a message with this id. A message that is sent again gets one response. */
export function hasMessage(state: AgentState, id: string): boolean {
  return state.messages.toArray().some((message) => message.id === id);
}

/** Returns the state with a user message, and with an execution that responds to it. */
export function withMessage(
  state: AgentState,
  content: string | readonly UserPart[],
  options: MessageOptions,
  clock: Clock,
  at: Instant,
): AgentState {
  const message = userMessage(content, { clock, ...options });
  return withMessageAfter(withAnswerRequested(state, clock, at), state.messages, message, at);
}

/** Returns the state with a conversation that ends with a user message of its execution. */
export function withMessageAfter(
  state: AgentState,
  messages: Messages,
  message: UserMessage,
  at: Instant,
): AgentState {
  const { executionId, currentStep } = state;
  const tagged =
    executionId === undefined ? message : withExecutionTag(message, executionId, currentStep?.id);
  return state.withMessages(messages.append(tagged), at);
}

/** Returns the state with a pending execution that replaces the execution of the state. */
export function withFreshExecution(state: AgentState, clock: Clock, at: Instant): AgentState {
  const execution = ExecutionState.create({ id: ExecutionId.create(clock), at });
  return AgentState.restore({ ...state, execution });
}

/** Returns the state with a response requested: from the unfinished execution, or from a new one. */
function withAnswerRequested(state: AgentState, clock: Clock, at: Instant): AgentState {
  const { execution } = state;
  if (execution === undefined || execution.isTerminal) return withFreshExecution(state, clock, at);
  const isWaitingForIt = execution.waiting.some(({ type }) => type === 'input');
  const resumed = isWaitingForIt ? state.withExecutionStatus('inProgress', at) : state;
  return resumed.withContinuationRequested(at);
}
