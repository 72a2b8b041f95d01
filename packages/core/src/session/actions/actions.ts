import { checkArgument, mustBe, optionsCheck, type ArgumentCheck } from '../../arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import { compact, toJsonValue, type JsonValue } from '../../json.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { withStop } from '../../loop/stopping/final-stop.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import type { LlmConfig } from '../../state/inference/llm-config.ts';
import { MessageStore } from '../../state/messages/message-store.ts';
import { checkMessageOptions, type MessageOptions, type UserPart } from '../../state/messages/messages.ts';
import { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { MetadataKey } from '../../state/values/metadata.ts';
import { withDecision, type Decision } from './approval.ts';
import { withAnswer, type GivenAnswer } from './answer.ts';
import { withRetry } from './waiting-calls.ts';
import { hasMessage, isEnding, MESSAGE_CONTENT, withMessage, type InboxContent } from './inbox-content.ts';
import { checkDescription, type SessionDescription } from '../title-labels-owner.ts';
import type { AgentSession } from '../session.ts';
import type { SessionStatus } from '../session-info.ts';

/** The functions and values that the runtime passes to an action. */
export interface ActionContext {
  /**
   * Runs the agent until its execution ends, waits or is aborted, and returns the session after the run. The runtime
   * saves the session before and during the run as its save policy sets. Continue with the returned session.
   * @throws HoldfastError `AGENT_NOT_FOUND` when the catalog has no loop for the session's agent.
   */
  run(session: AgentSession): Promise<AgentSession>;
  /**
   * Saves the session now, and returns it with its next revision and the changes of hooks. Continue with the returned
   * session.
   */
  save(session: AgentSession): Promise<AgentSession>;
  /** Returns the loop of a session's agent. @throws HoldfastError `AGENT_NOT_FOUND` when the catalog has none. */
  loop(session: AgentSession): AgentLoop;
  /** The clock of the runtime. An action takes the time and ids from it. */
  readonly clock: Clock;
  /** The signal of the caller: `ExecuteOptions.signal`. `run` obeys it without being passed it. */
  readonly signal: AbortSignal | undefined;
}

/** A function that changes a session between load and save. */
export interface SessionAction {
  (session: AgentSession, context: ActionContext): Promise<AgentSession> | AgentSession;
  /**
   * True for a quick action, which neither claims the session nor runs the agent. The runtime refuses its save while a
   * worker holds a claim.
   */
  readonly isQuick?: boolean;
  /** The inbox item that can be enqueued instead while another worker holds a claim: see `ExecuteOptions.whenBusy`. */
  readonly item?: { readonly id?: string | undefined; readonly content: InboxContent };
}

/**
 * Adds a user message and runs the agent. Unless the save policy is `end`, the runtime saves the message before the
 * run. An unfinished execution resumes and responds to the message too; an execution that only lacks its end is ended
 * first. If the process dies during the run, `resume()` continues it. While another worker holds a claim, the runtime
 * enqueues the message. A message with an `id` can safely be sent again: it is added once, and gets a response if it
 * had none.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active. `sendMessage` itself throws a RangeError or
 * TypeError `ARGUMENT_INVALID` for an empty message or an unknown option.
 */
export function sendMessage(
  content: string | readonly UserPart[],
  options: MessageOptions = {},
): SessionAction {
  checkArgument('A message', content, MESSAGE_CONTENT);
  const { id, metadata } = checkMessageOptions(options, 'sendMessage');
  const item = { id, content: { type: 'message', content, ...(metadata && { metadata }) } as const };
  return onActive(item, async (session, context) => {
    if (id !== undefined && hasMessage(session.state, id)) return resume()(session, context);
    const ready = isEnding(session.state) ? await context.run(session) : session;
    const { clock } = context;
    return context.run(ready.withState(withMessage(ready.state, content, options, clock, clock.now())));
  });
}

/**
 * Resumes an unfinished execution. A session without one is returned unchanged, and its next message begins a new
 * execution.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active.
 */
export function resume(): SessionAction {
  return (session, context) => {
    requireActive(session);
    return session.state.hasActiveExecution ? context.run(session) : session;
  };
}

/**
 * Repeats at once the failed inference for which the execution waits. It also resumes a `failed` execution: the closed
 * steps and their messages stay, its errors are marked as resolved, and a new step begins within the same budget. It
 * revives a dead letter. A session without a failure is returned unchanged.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active; SessionBusyError while another worker holds
 * a claim, unless `whenBusy` is `enqueue`.
 */
export function retry(): SessionAction {
  return onActive({ content: { type: 'retry' } }, async (session, context) => {
    const state = withRetry(session.state, context.clock.now());
    return state.hasActiveExecution ? context.run(session.withState(state)) : session;
  });
}

/** Options of `cancel`. */
export interface CancelOptions {
  /** The reason, which the stop signal of the execution carries as its message. */
  readonly reason?: string;
  /** Cancels only this execution, so that a cancel that arrives late does not end the next one. */
  readonly executionId?: string;
}

const checkCancelOptions = optionsCheck<CancelOptions>('cancel', {
  reason: mustBe.string,
  executionId: mustBe.string,
});

/**
 * Ends the active execution `stopped`, with the stop reason `userRequested`, also when it is suspended. It calls no model
 * and starts no tool. A call that waits for a decision does not run, a call that waits for an answer or inside a subagent
 * becomes `interrupted`, and a call in doubt is resolved as at any resume. While another worker holds a claim, the runtime
 * enqueues the cancel, and that worker aborts its run. A session without an active execution, or with another one than
 * `executionId`, is returned unchanged.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active. `cancel` itself throws a TypeError
 * `ARGUMENT_INVALID` for an unknown option or an invalid value.
 */
export function cancel(options: CancelOptions = {}): SessionAction {
  const { reason = 'The execution was cancelled.', executionId } = checkCancelOptions(options);
  const content = compact({ type: 'stop' as const, reason, executionId });
  return onActive({ content }, async (session, context) => {
    const { state } = session;
    if (!state.hasActiveExecution || (executionId ?? state.executionId) !== state.executionId) return session;
    const signal = stopSignal({ reason: 'userRequested', message: reason, source: 'cancel' });
    return context.run(session.withState(withStop(state, signal, context.clock.now())));
  });
}

/** Options of `approve` and `deny`. */
export type DecisionOptions = Pick<Decision, 'by' | 'reason' | 'requestedAt'>;

const checkDenial = optionsCheck<DecisionOptions>(
  'deny',
  { by: mustBe.string, reason: mustBe.string, requestedAt: mustBe.instant },
  { input: 'only an approval can change the arguments' },
);
const checkApproval = optionsCheck<DecisionOptions & Pick<Decision, 'input'>>('approve', {
  by: mustBe.string,
  reason: mustBe.string,
  input: mustBe.anything,
  requestedAt: mustBe.instant,
});

const CALL: ArgumentCheck = {
  expected: 'a ToolExecution or its id',
  accepts: (value) => typeof value === 'string' || value instanceof ToolExecution,
};

/**
 * Approves a tool call that waits for approval, and resumes the execution. Of several decisions on one call the first
 * counts, and the tool runs once. With `input`, the tool runs with these arguments instead of those of the model. When
 * its schema changes them, the call requests approval again, for the changed arguments.
 * @param call the tool execution as the person saw it, or its id. A call can request approval again after a crash: the
 * decision counts only for the request that the tool execution has, or that `requestedAt` names.
 * @throws HoldfastError `APPROVAL_NOT_FOUND` when no such call waits; `APPROVAL_DECIDED` when the call was decided
 * before or its approval timeout has passed; `APPROVAL_OUTDATED` when the call has requested approval again since.
 * @throws HoldfastError `TOOL_ARGUMENTS_INVALID` or `TOOL_ARGUMENTS_NOT_JSON` for an `input` that the schema of the tool
 * refuses; `TOOL_TIMEOUT` when its check takes longer than `timeoutSeconds` of the tool, or than 60 seconds;
 * `AGENT_NOT_FOUND` or `TOOL_NOT_FOUND` for an `input` when the runtime does not have the agent or its tool. The call
 * still waits.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active.
 * @throws SessionBusyError while another worker holds a claim, unless `whenBusy` is `enqueue`.
 */
export function approve(
  call: ToolExecution | string,
  options: DecisionOptions & Pick<Decision, 'input'> = {},
): SessionAction {
  const { requestedAt, ...rest } = checkApproval(options);
  return decide({ ...seenCall(call, requestedAt), decision: 'approved', ...rest });
}

/**
 * Denies a tool call that waits for approval. The tool does not run, and the model reads the reason.
 * @throws as `approve` does.
 */
export function deny(call: ToolExecution | string, options: DecisionOptions = {}): SessionAction {
  const { requestedAt, ...rest } = checkDenial(options);
  return decide({ ...seenCall(call, requestedAt), decision: 'denied', ...rest });
}

/** Returns the call that a decision names, with the request that the person saw. */
function seenCall(
  call: ToolExecution | string,
  named: Instant | undefined,
): Pick<Decision, 'toolExecutionId' | 'requestedAt'> {
  const toolExecutionId = idOf(call);
  const requestedAt = named ?? (typeof call === 'string' ? undefined : call.approval?.requestedAt);
  return compact({ toolExecutionId, requestedAt });
}

function decide(decision: Decision): SessionAction {
  const item = { content: { type: 'decision', ...decision } as const };
  return onActive(item, async (session, context) => {
    const { clock } = context;
    const tools = decision.input === undefined ? undefined : context.loop(session).tools;
    const state = await withDecision(session.state, decision, tools, clock.now(), clock);
    return context.run(session.withState(state));
  });
}

/** Options of `answer` and `answerError`. */
export type AnswerOptions = Pick<GivenAnswer, 'by'>;

const ANSWER_OPTIONS = { by: mustBe.string };
const checkAnswerOptions = optionsCheck<AnswerOptions>('answer', ANSWER_OPTIONS);
const checkErrorOptions = optionsCheck<AnswerOptions>('answerError', ANSWER_OPTIONS);

/**
 * Answers a call of a tool without `execute`, and resumes the execution. The value is the result of the call. Of several
 * answers to one call the first counts.
 * @param call the tool execution that waits, or its id
 * @throws HoldfastError `NOT_JSON` for a value that JSON cannot hold. The action throws `ANSWER_INVALID` for a value that
 * does not fit the tool's `outputSchema`, and the call still waits; `ANSWER_NOT_FOUND` when no such call waits;
 * `ANSWER_GIVEN` when the call was answered before or its answer timeout has passed; `AGENT_NOT_FOUND` or
 * `TOOL_NOT_FOUND` when the runtime does not have the agent or its tool.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active.
 * @throws SessionBusyError while another worker holds a claim, unless `whenBusy` is `enqueue`.
 */
export function answer(
  call: ToolExecution | string,
  value: unknown,
  options: AnswerOptions = {},
): SessionAction {
  const checkedOptions = checkAnswerOptions(options);
  return answerWith({ toolExecutionId: idOf(call), value: toJsonValue(value), ...checkedOptions });
}

/**
 * Answers a call of a tool without `execute` with an error: the call fails, and the model reads the message.
 * @throws as `answer` does, except for the value.
 */
export function answerError(
  call: ToolExecution | string,
  message: string,
  options: AnswerOptions = {},
): SessionAction {
  const error = checkArgument('The message of answerError', message, mustBe.string);
  return answerWith({ toolExecutionId: idOf(call), error, ...checkErrorOptions(options) });
}

/** Returns the id of a tool call. @throws TypeError `ARGUMENT_INVALID` for another value. */
function idOf(call: ToolExecution | string): string {
  checkArgument('The tool call', call, CALL);
  return typeof call === 'string' ? call : call.id;
}

function answerWith(given: GivenAnswer): SessionAction {
  const item = { content: { type: 'answer', ...given } as const };
  return onActive(item, async (session, context) => {
    const { clock } = context;
    const { tools } = context.loop(session);
    const state = await withAnswer(session.state, given, tools, clock.now(), clock);
    return context.run(session.withState(state));
  });
}

/** Creates an action on an active session, with the inbox item that can be enqueued instead. */
function onActive(item: Required<SessionAction>['item'], act: SessionAction): SessionAction {
  const action: SessionAction = async (session, context) => {
    requireActive(session);
    return act(session, context);
  };
  return Object.assign(action, { item });
}

/**
 * Removes the messages of every section, summaries included, and the execution, even an unfinished one. The system
 * prompt, the model settings, the response format and the metadata stay.
 */
export function clearHistory(): SessionAction {
  return changeState((state, at) => state.forNextExecution(at).withMessageStore(MessageStore.empty, at));
}

/** Changes the model settings, from the next inference on. */
export function changeModel(llmConfig: LlmConfig): SessionAction {
  return changeState((state, at) => state.withLlmConfig(llmConfig, at));
}

/** Changes the system prompt, from the next inference on. */
export function changeSystemPrompt(systemPrompt: string | undefined): SessionAction {
  return changeState((state, at) => state.withSystemPrompt(systemPrompt, at));
}

/** Sets one value in the metadata. */
export function writeMetadata<T extends JsonValue>(key: MetadataKey<T> | string, value: T): SessionAction {
  return changeState((state, at) => state.withMetadata(key, value, at));
}

/**
 * Changes the title, the labels, or both, by which people find the session. `undefined` removes one.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid title or label.
 */
export function describe(description: SessionDescription): SessionAction {
  checkDescription(description);
  return quick((session) => session.withDescription(description));
}

/** Changes the session status. A `suspended` session accepts no messages until it is `active` again. */
export function changeStatus(status: SessionStatus): SessionAction {
  return quick((session) => session.withStatus(status));
}

function changeState(change: (state: AgentState, at: Instant) => AgentState): SessionAction {
  return quick((session, { clock }) => session.withState(change(session.state, clock.now())));
}

function quick(action: (session: AgentSession, context: ActionContext) => AgentSession): SessionAction {
  return Object.assign(action, { isQuick: true });
}

/** @throws HoldfastError `SESSION_REFUSED` */
export function requireActive(session: AgentSession): void {
  if (session.status === 'active') return;
  const message = `Session "${session.sessionId}" is ${session.status}. Make it active first: changeStatus("active").`;
  throw new HoldfastError('SESSION_REFUSED', message, { data: { status: session.status } });
}
