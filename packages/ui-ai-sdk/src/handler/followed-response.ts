import type { AgentState, Message } from '@holdfast/core';
import type { SessionView } from '@holdfast/core/channel';
import { executionIdOf } from '@holdfast/core/engine';
import type { FinishReason, UIMessage } from 'ai';
import { digestOf } from '../wire/digest.ts';
import type { ResponseEnd } from '../wire/response-event.ts';
import { hasFailed, isInProgress, messageOfExecution, type MessagesOf } from './chat-view.ts';
import type { DecisionRights } from './decision-rights.ts';

/** The response that a reader follows. */
export type ResponseTarget =
  /**
   * The response to a user message, once a worker has taken it in. `hasStream`: the page reads another stream, which shows
   * the message if a running execution takes it in.
   */
  | { readonly type: 'message'; readonly messageId: string; readonly hasStream: boolean }
  /** The response of an execution, as soon as the state shows the effect of the request. */
  | {
      readonly type: 'execution';
      readonly executionId: string;
      readonly isReady?: (state: AgentState) => boolean;
      /** True for a request without an effect: its response is over at once, unless the execution is in progress. */
      readonly isUnchanged?: boolean;
    };

/** A response as a view shows it. */
export interface FollowedResponse {
  /** The message of the assistant; `undefined` before it has a part. */
  readonly message: UIMessage | undefined;
  readonly end: ResponseEnd | undefined;
}

/** Describes a failed execution for the user. */
type DescribeFailure = (state: AgentState) => string;

interface FollowParts {
  readonly messagesOf: MessagesOf;
  /** The rights of the reader. */
  readonly rights: Pick<DecisionRights, 'shown'>;
  readonly describeFailure: DescribeFailure;
  /** True while a message waits in the inbox or stands in the saved state. */
  readonly hasMessage: (messageId: string) => Promise<boolean>;
}

/** Returns a response as each view shows it, up to its end. The iteration also ends when the session is deleted. */
export async function* followResponse(
  views: AsyncIterable<SessionView>,
  target: ResponseTarget,
  parts: FollowParts,
): AsyncGenerator<FollowedResponse, void, undefined> {
  const executionOf = executionFinder(target, parts);
  let isUnchanged = target.type === 'execution' && target.isUnchanged === true;
  let metadata: unknown;
  for await (const view of views) {
    const execution = await executionOf(view);
    if (execution === undefined) continue;
    if (typeof execution !== 'string') {
      yield { message: undefined, end: execution };
      return;
    }
    const messages = parts.messagesOf(view);
    const found = messageOfExecution(messages, execution);
    // A state has the facts of its last execution only. A message keeps the ones that it had when another one begins.
    const isBare = found !== undefined && found.metadata === undefined && metadata !== undefined;
    const message =
      found && (await parts.rights.shown(isBare ? { ...found, metadata } : found, view.session.state));
    metadata = message?.metadata;
    const end = endOf(view, execution, messages, parts);
    yield { message, end: end && isUnchanged ? withoutEffect(end) : end };
    if (end) return;
    isUnchanged = false;
  }
}

/** Returns the execution of a response in a view, or the end of a response that never begins; `undefined` before either. */
type FindExecution = (view: SessionView) => Promise<string | ResponseEnd | undefined>;

function executionFinder(target: ResponseTarget, parts: FollowParts): FindExecution {
  if (target.type === 'message') return executionOfMessage(target, parts);
  const { executionId, isReady = () => true } = target;
  return async ({ session }) => (isReady(session.state) ? executionId : undefined);
}

/** Finds the execution that responds to a message. */
function executionOfMessage(
  { messageId, hasStream }: Extract<ResponseTarget, { readonly type: 'message' }>,
  { messagesOf, hasMessage }: FollowParts,
): FindExecution {
  let executionId: string | undefined;
  let message: Message | undefined;
  let searched: AgentState['messages'] | undefined;
  return async (view) => {
    const { state } = view.session;
    if (executionId !== undefined) return executionId;
    // Many views have the same conversation, and only another text of the model.
    if (state.messages !== searched) message = lastWithId(state, messageId);
    searched = state.messages;
    if (message === undefined) {
      const isWaiting = !view.isSaved || (await hasMessage(messageId));
      return isWaiting ? undefined : DISCARDED;
    }
    const isShown = messagesOf(view).some(({ id, role }) => id === messageId && role === 'user');
    if (hasStream && !isShown) return STEERED;
    executionId = executionIdOf(message) ?? state.executionId;
    return executionId;
  };
}

function lastWithId({ messages }: AgentState, messageId: string): Message | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages.at(index);
    if (message?.id === messageId) return message;
  }
  return undefined;
}

/** Returns the end of a response; `undefined` while it continues, and while its end is not saved. */
function endOf(
  { session, isSaved }: SessionView,
  executionId: string,
  messages: readonly UIMessage[],
  { describeFailure }: FollowParts,
): ResponseEnd | undefined {
  const { state, version } = session;
  if (state.executionId !== executionId) return { type: 'end', finishReason: 'other' };
  if (isInProgress(state) || !isSaved) return undefined;
  const chat = { version, isAtWork: false, digest: digestOf(messages) };
  if (hasFailed(state)) return { type: 'end', finishReason: 'error', error: describeFailure(state), chat };
  switch (state.status) {
    case 'stopped':
      return { type: 'end', finishReason: 'interrupted', chat };
    case 'suspended':
      return { type: 'end', finishReason: 'tool-calls', chat };
    default:
      return { type: 'end', finishReason: finishReasonOf(state), chat };
  }
}

/** The end for a message that is gone, such as one behind a message that another page has edited. */
const DISCARDED: ResponseEnd = {
  type: 'end',
  finishReason: 'error',
  error: 'The message is no longer in the chat: an earlier message was edited or answered again.',
};

/** The end for a message that a running execution has used: the other stream of the page shows it. */
const STEERED: ResponseEnd = { type: 'end', finishReason: 'other' };

/** Returns the end of a request without an effect. `interrupted` keeps a page from sending it again for ever. */
function withoutEffect(end: ResponseEnd): ResponseEnd {
  return end.finishReason === 'tool-calls' ? end : { ...end, finishReason: 'interrupted' };
}

function finishReasonOf({ execution }: AgentState): FinishReason {
  const reason = execution?.latestStep?.response?.finishReason;
  return reason === 'length' || reason === 'content-filter' ? reason : 'stop';
}
