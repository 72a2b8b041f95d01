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
import { withRetry } from './waiting-calls.ts';
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

export const MESSAGE_CONTENT: ArgumentCheck = {
  expected: 'a string or an array of parts that is not empty',
  accepts: (value) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0,
  type: 'string',
};

type OfType<Type extends InboxContent['type']> = Extract<InboxContent, { readonly type: Type }>;

/** The facts beside its content that the use of an item needs. */
interface ItemUse extends Pick<ItemParts, 'clock'> {
  readonly item: EnqueuedItem;
  /** The tools of the agent; `undefined` for an item that needs none. */
  readonly tools: AgentLoop['tools'];
  readonly at: Instant;
}

interface ItemKind<Content> {
  readonly check: OptionsCheck<Content>;
  /** Names the effect of an item. Without a name, a full inbox refuses the item. */
  effect(content: Content): string | undefined;
  /** True when the schema of a tool checks the item. */
  needsTools?(content: Content): boolean;
  /** Returns the state after the item, or the reason why it has no effect. */
  use(state: AgentState, content: Content, use: ItemUse): AgentState | string | Promise<AgentState>;
}

const TYPE = mustBe.anything;
const checkAnswer = optionsCheck<OfType<'answer'>>('an inbox answer', { type: TYPE, ...ANSWER_CHECKS });

const KINDS: { readonly [Type in InboxContent['type']]: ItemKind<OfType<Type>> } = {
  message: {
    check: optionsCheck(
      'an inbox message',
      { type: TYPE, content: mustBe.required(MESSAGE_CONTENT), metadata: mustBe.object },
      { text: 'use "content"', id: 'pass it beside the content, as in enqueue(sessionId, content, { id })' },
    ),
    effect: () => undefined,
    use(state, { content, metadata }, { item: { id, enqueuedAt: createdAt }, clock, at }) {
      if (hasMessage(state, id)) return 'The conversation has a message with this id.';
      return withMessage(state, content, { id, createdAt, ...(metadata && { metadata }) }, clock, at);
    },
  },
  stop: {
    check: optionsCheck('an inbox stop', { type: TYPE, reason: mustBe.string, executionId: mustBe.string }),
    effect: ({ executionId }) => (executionId === undefined ? 'stop' : `stop ${executionId}`),
    use(state, _, { item, at }) {
      if (!state.hasActiveExecution) return 'The session has no active execution.';
      const message = stopReasonOf(item, state.executionId);
      if (message === undefined) return 'The stop names an execution that is not active.';
      return withStop(state, stopSignal({ reason: 'userRequested', message, source: 'inbox' }), at);
    },
  },
  decision: {
    check: optionsCheck('an inbox decision', { type: TYPE, ...DECISION_CHECKS }),
    effect: ({ toolExecutionId, decision, requestedAt = '' }) =>
      `${decision} ${toolExecutionId} ${requestedAt}`,
    needsTools: ({ input }) => input !== undefined,
    use: (state, decision, { item, tools, clock, at }) =>
      withDecision(state, decision, tools, Math.min(at, item.enqueuedAt), clock),
  },
  answer: {
    check: (content) => requireOneResult(checkAnswer(content)),
    effect: ({ toolExecutionId }) => `answer ${toolExecutionId}`,
    needsTools: () => true,
    use: (state, answer, { item, tools, clock, at }) =>
      withAnswer(state, answer, tools, Math.min(at, item.enqueuedAt), clock),
  },
  retry: {
    check: optionsCheck('an inbox retry', { type: TYPE }),
    effect: () => 'retry',
    use(state, _, { at }) {
      const retried = withRetry(state, at);
      return retried === state ? 'The session has no failed inference or execution.' : retried;
    },
  },
  'child-ended': {
    check: optionsCheck('an inbox child-ended', {
      type: TYPE,
      sessionId: mustBe.required(mustBe.string),
    }),
    effect: ({ sessionId }) => `child ${sessionId}`,
    use: (state) => state,
  },
};

const CONTENT_TYPE = mustBe.oneOf(Object.keys(KINDS));

/** Returns the kind of a content that may be damaged, or that a newer release wrote. */
function kindOf({ type }: InboxContent): ItemKind<InboxContent> | undefined {
  return Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
}

/**
 * Returns the content if a worker can use it.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for invalid content.
 */
export function checkedContent(content: InboxContent): InboxContent {
  checkArgument('The content of an inbox item', content, mustBe.object);
  checkArgument('The type of an inbox item', content.type, CONTENT_TYPE);
  return kindOf(content)?.check(content) ?? content;
}

const MAX_RESERVE_LENGTH = 200;

/**
 * Returns the name under which a full inbox stores an item beyond its limit, as `EnqueueOptions.reserve`; `undefined` for a
 * message. Items of one name have the same effect. An answer that does not fit its schema keeps another answer to the same
 * call out of a full inbox, until a worker has read it.
 */
export function reserveOf(content: InboxContent): string | undefined {
  const name = kindOf(content)?.effect(content);
  return name !== undefined && name.length <= MAX_RESERVE_LENGTH ? name : undefined;
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
  const kind = kindOf(content);
  if (kind === undefined) return { state, ignored: 'The content has an unknown type.' };
  const tools = kind.needsTools?.(content) ? loop().tools : undefined;
  try {
    const used = await kind.use(state, content, { item, tools, clock, at: clock.now() });
    return typeof used === 'string' ? { state, ignored: used } : { state: used };
  } catch (error) {
    return { state, ignored: error instanceof Error ? error.message : 'The content is unreadable.' };
  }
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
