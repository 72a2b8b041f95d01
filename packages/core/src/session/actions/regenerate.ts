import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import { withStop } from '../../loop/stopping/final-stop.ts';
import { subagentState } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { Waiting } from '../../state/values/waiting.ts';
import { SUMMARIZED_THROUGH, SUMMARY, withoutTags } from '../../state/messages/message-tags.ts';
import { List } from '../../state/values/list.ts';
import {
  userMessage,
  type MessageOptions,
  type UserMessage,
  type UserPart,
} from '../../state/messages/messages.ts';
import type { AgentSession } from '../session.ts';
import { requireActive, type ActionContext, type SessionAction } from './actions.ts';
import { MESSAGE_CONTENT, withFreshExecution, withMessageAfter } from './inbox-content.ts';

/** Options of `regenerate`. */
export interface RegenerateOptions {
  /**
   * The id of a message of the conversation: of a response, or of the user message to respond to. Default: the last user
   * message.
   */
  readonly messageId?: string;
}

/** Options of `editMessage`. Default: the metadata and the provider options of the message stay. */
export type EditMessageOptions = Pick<MessageOptions, 'metadata' | 'providerOptions'>;

const checkRegenerateOptions = optionsCheck<RegenerateOptions>(
  'regenerate',
  { messageId: mustBe.string },
  { id: 'use "messageId"' },
);
const checkEditOptions = optionsCheck<EditMessageOptions>(
  'editMessage',
  { metadata: mustBe.object, providerOptions: mustBe.object },
  { id: 'the message keeps its id' },
);

/**
 * Responds again to a user message, in a new execution. The message is the last user message before the response that
 * `messageId` names, or the last one of the conversation. The messages after it are discarded, and they are gone: to keep
 * them, fork the session first. Other sections and the metadata of the state stay.
 *
 * An active execution that waits for a person is first ended `stopped`, as `cancel()` does. Any other active execution is
 * refused, because its work would be lost.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active; `EXECUTION_ACTIVE` for an active execution
 * that does not wait for a person, or that has a call with an unknown outcome.
 * @throws RangeError `ARGUMENT_INVALID` for a message that is not in the conversation or follows no user message.
 * @throws SessionBusyError while another worker holds a claim.
 */
export function regenerate(options: RegenerateOptions = {}): SessionAction {
  const { messageId } = checkRegenerateOptions(options);
  return (session, context) => {
    requireActive(session);
    const message = messageToAnswer(session.state, messageId);
    return respondAgain(session, message, context);
  };
}

/**
 * Replaces the content of a user message, and responds to it in a new execution. The message keeps its id. The messages
 * after it are discarded, and they are gone: to keep them, fork the session first. Other sections and the metadata of the
 * state stay, except a summary that ends with the message.
 *
 * It treats an active execution as `regenerate` does.
 * @throws RangeError `ARGUMENT_INVALID` for a message that is not a user message of the conversation; RangeError or
 * TypeError `ARGUMENT_INVALID` for an empty message or an unknown option; in all other cases as `regenerate` does.
 */
export function editMessage(
  messageId: string,
  content: string | readonly UserPart[],
  options: EditMessageOptions = {},
): SessionAction {
  checkArgument('The message id of editMessage', messageId, mustBe.string);
  checkArgument('A message', content, MESSAGE_CONTENT);
  const changes = checkEditOptions(options);
  return (session, context) => {
    requireActive(session);
    const message = userMessageIn(session.state, messageId);
    const { metadata, providerOptions } = { ...withoutTags(message), ...changes };
    const edited = userMessage(content, {
      id: messageId,
      clock: context.clock,
      ...(metadata && { metadata }),
      ...(providerOptions && { providerOptions }),
    });
    return respondAgain(session, edited, context);
  };
}

/** Replaces the user message of the same id, discards the messages after it, and runs a new execution. */
async function respondAgain(
  session: AgentSession,
  message: UserMessage,
  context: ActionContext,
): Promise<AgentSession> {
  const ended = await withExecutionEnded(session, context);
  const at = context.clock.now();
  const { state } = ended;
  const replaced = userMessageIn(state, message.id);
  const before = List.from(state.messages.slice(0, state.messages.toArray().indexOf(replaced)));
  const kept = replaced.content === message.content ? state : withoutSummaryOf(state, message);
  const fresh = withFreshExecution(kept, context.clock, at);
  return context.run(ended.withState(withMessageAfter(fresh, before, message, at)));
}

/** A summary that ends with the message stands for its earlier content. */
function withoutSummaryOf(state: AgentState, { id, createdAt }: UserMessage): AgentState {
  const through = state.store.section(SUMMARY).last?.metadata?.[SUMMARIZED_THROUGH];
  return through === id ? state.withMessageStore(state.store.withoutSection(SUMMARY), createdAt) : state;
}

// The message

function messageToAnswer(state: AgentState, messageId: string | undefined): UserMessage {
  const messages = state.messages.toArray();
  const place =
    messageId === undefined ? messages.length - 1 : messages.findIndex(({ id }) => id === messageId);
  if (messageId !== undefined && place < 0) throw unknownMessage('a message in the conversation', messageId);
  const found = messages.slice(0, place + 1).findLast((message) => message.role === 'user');
  if (found !== undefined) return found;
  throw invalidArgument(
    'regenerate needs a user message to respond to, and the conversation has none there.',
  );
}

function userMessageIn(state: AgentState, messageId: string): UserMessage {
  const found = state.messages.toArray().find(({ id }) => id === messageId);
  if (found?.role === 'user') return found;
  throw unknownMessage('a user message in the conversation', messageId);
}

function unknownMessage(expected: string, messageId: string): RangeError | TypeError {
  return invalidArgument(`messageId must be the id of ${expected}, found ${describeValue(messageId)}.`);
}

// The active execution

/** Ends an active execution that waits for a person. @throws HoldfastError `EXECUTION_ACTIVE` for any other one. */
async function withExecutionEnded(session: AgentSession, context: ActionContext): Promise<AgentSession> {
  const { state } = session;
  if (!state.hasActiveExecution) return session;
  if (!waitsForPerson(state) || hasUnknownOutcome(state)) throw executionActive(state);
  const message = 'Its messages were discarded for another response.';
  const signal = stopSignal({ reason: 'userRequested', message, source: 'regenerate' });
  const stopped = withStop(state, signal, context.clock.now());
  const ended = await context.run(session.withState(stopped));
  if (ended.state.hasActiveExecution) throw executionActive(ended.state); // the run yielded
  return ended;
}

function waitsForPerson({ execution, status }: AgentState): boolean {
  return status === 'suspended' && (execution?.waiting.every(isForPerson) ?? false);
}

/** True for a decision, an answer, a message, `retry()`, and the timeout of an approval. */
function isForPerson(waiting: Waiting): boolean {
  switch (waiting.type) {
    case 'approval':
    case 'answer':
    case 'input':
      return true;
    case 'retry':
      return waiting.until === undefined;
    case 'until':
      return waiting.toolExecutionId !== undefined;
    case 'child':
      return false;
  }
}

/** True when a call was started, has no outcome, and waits for no answer, also within a subagent. */
function hasUnknownOutcome({ currentStep }: AgentState): boolean {
  return currentStep?.toolExecutions.some(isUnknown) ?? false;
}

function isUnknown(call: ToolExecution): boolean {
  if (!call.isRunning || call.isAwaitingAnswer) return false;
  return call.waitingInside.length === 0 || hasUnknownOutcome(subagentState(call));
}

function executionActive({ status, execution }: AgentState): HoldfastError {
  const executionId = execution?.executionId;
  const message = `Execution "${executionId}" is ${status}, and its work would be lost. Wait for its end, or end it first: cancel().`;
  return new HoldfastError('EXECUTION_ACTIVE', message, { data: { executionId, status } });
}
