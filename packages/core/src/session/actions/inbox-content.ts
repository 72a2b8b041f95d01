import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import type { ArgumentCheck, OptionsCheck } from '../../arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import type { JsonObject } from '../../json.ts';
import { isJsonObject } from '../../json.ts';
import { nextAction } from '../../loop/stepper.ts';
import { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import { ExecutionState } from '../../state/execution/execution.ts';
import { ExecutionId } from '../../state/values/ids.ts';
import type { MessageOptions, UserPart } from '../../state/messages/messages.ts';
import { DECISION_CHECKS, withDecision } from './approval.ts';
import { withRetry } from './retry.ts';
import type { Decision } from './approval.ts';
import type { InboxItem } from '../session-store.ts';

/** An item that is in an inbox, or will be. */
type EnqueuedItem = Omit<InboxItem, 'position'>;

/** What may be left for whoever works on a session. */
export type InboxContent =
  | {
      readonly type: 'message';
      readonly content: string | readonly UserPart[];
      readonly metadata?: JsonObject;
    }
  /** Ends the execution `stopped`, at once where somebody works on it. */
  | { readonly type: 'stop'; readonly reason?: string }
  | ({ readonly type: 'decision' } & Decision)
  /** Repeats the failed call of the model, as `retry()` does. */
  | { readonly type: 'retry' }
  /** A session that this one may wait for has ended. It changes nothing by itself: who takes it in looks at the children. */
  | { readonly type: 'child-ended'; readonly sessionId: string };

/** What came of an item. */
export interface AppliedItem {
  readonly state: AgentState;
  /** Why it changed nothing, when it did not. */
  readonly ignored?: string;
}

/** What a person says. */
export const MESSAGE_CONTENT: ArgumentCheck = {
  expected: 'a text or an array of parts, and not empty',
  accepts: (value) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0,
  type: 'string',
};

const TYPE = mustBe.anything;
type OfType<Type extends InboxContent['type']> = Extract<InboxContent, { readonly type: Type }>;

const CONTENT_CHECKS: { readonly [Type in InboxContent['type']]: OptionsCheck<OfType<Type>> } = {
  message: optionsCheck<OfType<'message'>>(
    'an inbox message',
    { type: TYPE, content: mustBe.required(MESSAGE_CONTENT), metadata: mustBe.object },
    { text: 'write "content"', id: 'give it beside the content, as in enqueue(sessionId, content, { id })' },
  ),
  stop: optionsCheck<OfType<'stop'>>('an inbox stop', { type: TYPE, reason: mustBe.string }),
  decision: optionsCheck<OfType<'decision'>>('an inbox decision', { type: TYPE, ...DECISION_CHECKS }),
  retry: optionsCheck<OfType<'retry'>>('an inbox retry', { type: TYPE }),
  'child-ended': optionsCheck<OfType<'child-ended'>>('an ended child', {
    type: TYPE,
    sessionId: mustBe.required(mustBe.string),
  }),
};

const CONTENT_TYPE = mustBe.oneOf(Object.keys(CONTENT_CHECKS));

/** Content that a worker can use. @throws RangeError or TypeError `ARGUMENT_INVALID` */
export function checkedContent(content: InboxContent): InboxContent {
  checkArgument('The content of an inbox item', content, mustBe.object);
  checkArgument('The type of an inbox item', content.type, CONTENT_TYPE);
  const check: OptionsCheck<never> = CONTENT_CHECKS[content.type];
  return check(content as never);
}

/**
 * The state as it will be when somebody has taken the item in: what a caller who has left it in the inbox may see, so that
 * the answer to an earlier message is not taken for the answer to this one.
 */
export function expectedState(state: AgentState, item: EnqueuedItem, clock: Clock): AgentState {
  const ready = mustWaitForEnd(state, item) ? state.forNextExecution(clock.now()) : state;
  return withInboxItem(ready, item, clock).state;
}

/** Must an item wait for the end of the execution? What has nothing left to do but to end answers no more messages. */
export function mustWaitForEnd(state: AgentState, { content }: EnqueuedItem): boolean {
  return isJsonObject(content) && content['type'] === 'message' && nextAction(state).type === 'finish';
}

/** Why the execution is to stop, when that is what an item asks for. */
export function stopReasonOf({ content }: EnqueuedItem): string | undefined {
  if (!isJsonObject(content) || content['type'] !== 'stop') return undefined;
  const { reason } = content;
  return typeof reason === 'string' ? reason : 'Somebody asked for it.';
}

/** The state with what an item asks for. One that cannot be used is ignored, with the reason: it must not block others. */
export function withInboxItem(state: AgentState, item: EnqueuedItem, clock: Clock): AppliedItem {
  if (!isJsonObject(item.content)) return { state, ignored: 'It is not an object.' };
  const content = item.content as unknown as InboxContent;
  const at = clock.now();
  try {
    switch (content.type) {
      case 'message': {
        if (hasMessage(state, item.id)) return { state, ignored: 'It was said before.' };
        const { metadata } = content;
        const options = { id: item.id, createdAt: item.enqueuedAt, ...(metadata && { metadata }) };
        return { state: withMessage(state, content.content, options, clock, at) };
      }
      case 'stop':
        if (!state.hasActiveExecution) return { state, ignored: 'There is nothing to stop.' };
        return { state: withStop(state, stopReasonOf(item) as string, at) };
      case 'decision': // made when it was left here, however late somebody looks
        return { state: withDecision(state, content, Math.min(at, item.enqueuedAt)) };
      case 'retry': {
        const retried = withRetry(state, at);
        return retried === state ? { state, ignored: 'There is nothing to repeat.' } : { state: retried };
      }
      case 'child-ended':
        return { state };
      default:
        return { state, ignored: 'It is of an unknown type.' };
    }
  } catch (error) {
    return { state, ignored: error instanceof Error ? error.message : 'It cannot be read.' };
  }
}

/** Has somebody said it before? A message that is sent again, by its id, is answered once. */
export function hasMessage(state: AgentState, id: string): boolean {
  return state.messages.toArray().some((message) => message.id === id);
}

/** The state with a message of the user, and with work to do on it. */
export function withMessage(
  state: AgentState,
  content: string | readonly UserPart[],
  options: MessageOptions,
  clock: Clock,
  at: Instant,
): AgentState {
  return withAnswerRequested(state, clock, at).withUserMessage(content, { clock, ...options }, at);
}

/** The state with somebody asking for an answer: in the execution that is unfinished, or in a new one. */
function withAnswerRequested(state: AgentState, clock: Clock, at: Instant): AgentState {
  const { execution } = state;
  if (execution === undefined || execution.isTerminal) {
    const fresh = ExecutionState.create({ id: ExecutionId.create(clock), at });
    return AgentState.restore({ ...state, execution: fresh });
  }
  const isWaitingForIt = execution.waiting.some(({ type }) => type === 'input');
  const resumed = isWaitingForIt ? state.withExecutionStatus('inProgress', at) : state;
  return resumed.withContinuationRequested(at);
}

function withStop(state: AgentState, message: string, at: Instant): AgentState {
  const resumed = state.status === 'suspended' ? state.withExecutionStatus('inProgress', at) : state;
  const stopped = resumed.withStopSignal(
    stopSignal({ reason: 'userRequested', message, source: 'inbox' }),
    at,
  );
  return stopped.withoutContinuationRequested(at); // a message before it asked for one
}
