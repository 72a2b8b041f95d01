import { checkArgument, mustBe } from '../arguments.ts';
import { compact, isEqualJson, isJsonObject, toJsonValue, type JsonValue } from '../json.ts';
import { AgentState } from '../state/agent-state.ts';
import { AgentContext } from '../state/context.ts';
import type { Answer } from '../state/tools/answer.ts';
import { Continuation, stopSignal, type StopSignal } from '../state/execution/continuation.ts';
import type { ErrorRecord } from '../state/values/error-record.ts';
import { ExecutionState } from '../state/execution/execution.ts';
import { InferenceResponse } from '../state/inference/inference-response.ts';
import { Usage } from '../state/inference/usage.ts';
import { List } from '../state/values/list.ts';
import type { LlmConfig } from '../state/inference/llm-config.ts';
import { callMarksOf, withCallMarks } from '../state/messages/call-marks.ts';
import type { AssistantPart, ToolOutput, UserMessage } from '../state/messages/messages.ts';
import type { EffectiveRequest, StepRequest } from '../state/inference/request.ts';
import { StepExecution } from '../state/execution/step-execution.ts';
import { AgentStep } from '../state/execution/step.ts';
import { ToolExecution } from '../state/tools/tool-execution.ts';
import type { Waiting } from '../state/values/waiting.ts';
import type { ToolOutcome } from '../state/tools/tool-outcome.ts';
import { isToolOf, type AgentEvent, type AgentEventListener, type EventBody } from './steps/events.ts';

/**
 * Redacts content: a text, or the JSON of arguments, results and other data. A result that replaces a text is shown as
 * text. An event for which the function throws is dropped.
 */
export type Redact = (content: JsonValue) => JsonValue;

/**
 * Returns a listener that receives only the content that `redact` returns; by default no content.
 *
 * Content is the text of models, tools and people: texts, reasoning, arguments, results, and the messages and data of
 * errors and stop signals, and a name under which a model called a tool that the loop does not have. The listener still
 * receives the names of the loop's tools, of hooks and models, ids, times, counts, usage, finish and stop reasons, and the
 * names and codes of errors. Files, sources and provider options are omitted.
 *
 * - An event's `state` is an outline: the agent, its model, status, times, usage, stop signals, the errors of the
 *   latest step, and errors outside any step. It has no messages, system prompt, metadata or steps; `stepCount` is 0.
 * - A step has its response and tool executions, but no input or output messages.
 * - An event that another program copied, or that a tool emitted, does not show which tools the loop has: all names of tools
 *   in it are content.
 * - There are no `inference-delta` events, because secret content may be split between two pieces.
 *   `inference-completed` has the whole text.
 *
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not a function.
 * @example
 * const masked = redactedListener(exporter, (content) => (typeof content === 'string' ? maskEmails(content) : '[data]'));
 */
export function redactedListener(
  listener: AgentEventListener,
  redact: Redact = () => '[redacted]',
): AgentEventListener {
  checkArgument('listener of redactedListener', listener, mustBe.function);
  checkArgument('redact of redactedListener', redact, mustBe.function);
  return (event) => {
    const shown = redactedEvent(event, redact);
    return shown && listener(shown);
  };
}

interface Redaction {
  readonly content: Redact;
  /** True for the name of a tool of the loop that announced the event. A model can invent other names. */
  readonly isTool: (name: string) => boolean;
}

function redactedEvent(event: AgentEvent, content: Redact): AgentEvent | undefined {
  const by = { content, isTool: (name: string) => isToolOf(event, name) };
  const body = redactedBody(event, by);
  if (body === undefined) return undefined;
  const { at, executionId, attempt, session } = event;
  const frame = { at, executionId, attempt, state: outlineOf(event.state, by) };
  return session === undefined ? { ...frame, ...body } : { ...frame, session, ...body };
}

type BodyOf<Type extends EventBody['type']> = Extract<EventBody, { readonly type: Type }>;
type MembersOf<Type extends EventBody['type']> = Omit<BodyOf<Type>, 'type'>;

const nothing = (): object => ({});
const toolMembers = (
  { stepId, toolExecution }: MembersOf<'tool-started'>,
  by: Redaction,
): MembersOf<'tool-started'> => ({ stepId, toolExecution: redactedTool(toolExecution, by) });

/**
 * The members of each event besides its type; `undefined` drops the event. They are copied by name, so a member that is
 * added to an event later is not passed on until it is named here.
 */
export const EVENT_MEMBERS: {
  readonly [T in EventBody['type']]: (event: BodyOf<T>, by: Redaction) => MembersOf<T> | undefined;
} = {
  'execution-started': nothing,
  'execution-resumed': nothing,
  'execution-suspended': nothing,
  'execution-stopped': nothing,
  'execution-completed': nothing,
  'execution-failed': nothing,
  'message-taken-in': ({ message }, by) => ({ message: redactedMessage(message, by) }),
  'step-started': ({ stepId, stepNumber }) => ({ stepId, stepNumber }),
  'step-completed': ({ stepExecution, stepNumber }, by) => ({
    stepExecution: redactedStep(stepExecution, by),
    stepNumber,
  }),
  'inference-started': ({ stepId, messageCount, request }) => ({
    stepId,
    messageCount,
    request: redactedRequest(request),
  }),
  'inference-delta': () => undefined,
  'inference-failed': ({ stepId, error, retryAt }, by) => ({
    stepId,
    error: redactedError(error, by),
    retryAt,
  }),
  'inference-completed': ({ stepId, response }, by) => ({
    stepId,
    response: redactedResponse(response, by),
  }),
  'step-restarted': ({ stepId, attempt }) => ({ stepId, attempt }),
  'tool-started': toolMembers,
  'tool-waiting': toolMembers,
  'tool-progress': toolMembers,
  'tool-completed': toolMembers,
  'tool-blocked': ({ blockedBy, ...event }, by) => ({
    ...toolMembers(event, by),
    blockedBy: blockedBy.map(({ hook, reason }) => ({ hook, reason: redactedText(reason, by) })),
  }),
  'continuation-evaluated': ({ shouldStop, explanation }) => ({ shouldStop, explanation }),
  'stop-signal-raised': ({ signal }, by) => ({ signal: redactedSignal(signal, by) }),
  'usage-updated': ({ usage }) => ({ usage }),
  subagent({ toolCallId, toolName, event }, by) {
    const inner = redactedEvent(event, by.content);
    return inner && { toolCallId, toolName: redactedName(toolName, by), event: inner };
  },
};

/** The redacted content of an event. An event of an unknown type is dropped. */
function redactedBody(event: EventBody, by: Redaction): EventBody | undefined {
  const { type } = event;
  const redact = Object.hasOwn(EVENT_MEMBERS, type) ? EVENT_MEMBERS[type] : undefined;
  const members = redact?.(event as never, by);
  return members && ({ type, ...members } as EventBody);
}

// States and steps

function outlineOf(state: AgentEvent['state'], by: Redaction): AgentState {
  const { agentId, parentAgentId, createdAt, updatedAt, executionCount, llmConfig } = state;
  const execution = state.execution && outlineOfExecution(state.execution, by);
  const kept = { agentId, parentAgentId, createdAt, updatedAt, executionCount, execution };
  return AgentState.restore({
    ...kept,
    llmConfig: llmConfig && settingsOf(llmConfig),
    context: AgentContext.empty,
  });
}

function redactedRequest({ model, llmConfig, toolChoice }: EffectiveRequest): EffectiveRequest {
  return { model, llmConfig: llmConfig && settingsOf(llmConfig), toolChoice };
}

/** The redacted request of a step that stores one. */
function redactedStepRequest(request: StepRequest | undefined): StepRequest | undefined {
  if (request?.llmConfig === undefined) return request;
  return { ...request, llmConfig: settingsOf(request.llmConfig) };
}

function settingsOf(config: LlmConfig): LlmConfig {
  const { providerOptions: _, stopSequences: __, ...settings } = config;
  return Object.freeze(settings);
}

function outlineOfExecution(execution: ExecutionState, by: Redaction): ExecutionState {
  const { executionId: id, startedAt, completedAt = startedAt, status, waiting } = execution;
  const outline = ExecutionState.create({ id, at: startedAt })
    .withOtherUsage(execution.usage)
    .withTimeWorked(execution.workedSeconds)
    .withLlmConfig(execution.llmConfig && settingsOf(execution.llmConfig))
    .withContinuation(redactedContinuation(execution.continuation, by));
  // Errors of earlier steps are omitted: reading them would cost more with every step.
  const errors = [...(execution.latestStep?.allErrors ?? []), ...execution.errors];
  return errors
    .reduce((known, error) => known.withError(redactedError(error, by)), outline)
    .withStatus(
      status,
      completedAt,
      waiting.map((entry) => redactedWaiting(entry, by)),
    );
}

function redactedWaiting(waiting: Waiting, by: Redaction): Waiting {
  return waiting.type === 'retry' ? { ...waiting, error: redactedError(waiting.error, by) } : waiting;
}

function redactedContinuation({ signals, isRequested }: Continuation, by: Redaction): Continuation {
  let continuation = Continuation.empty;
  for (const signal of signals) continuation = continuation.withSignal(redactedSignal(signal, by));
  return isRequested ? continuation.withRequested() : continuation;
}

function redactedStep(execution: StepExecution, by: Redaction): StepExecution {
  const { startedAt, completedAt } = execution;
  const { id, request, response, toolExecutions, errors } = execution.step;
  let step = AgentStep.create(List.empty(), id).withRequest(redactedStepRequest(request));
  if (response) step = step.withResponse(redactedResponse(response, by));
  for (const tool of toolExecutions) step = step.withToolExecution(redactedTool(tool, by));
  for (const error of errors) step = step.withError(redactedError(error, by));
  const continuation = redactedContinuation(execution.continuation, by);
  return StepExecution.of({ step, continuation, startedAt, completedAt });
}

// Content

function redactedText(content: string, by: Redaction): string {
  const shown = by.content(content);
  return typeof shown === 'string' ? shown : JSON.stringify(shown);
}

/** The name of a tool of the loop, or the redacted text of another name. */
function redactedName(name: string, by: Redaction): string {
  return by.isTool(name) ? name : redactedText(name, by) || '[redacted]';
}

/** A user message without files, metadata and provider options. */
function redactedMessage({ id, createdAt, content }: UserMessage, by: Redaction): UserMessage {
  const texts = content.flatMap((part) =>
    part.type === 'text' ? [{ type: part.type, text: redactedText(part.text, by) }] : [],
  );
  return { id, role: 'user', content: texts, ...(createdAt !== undefined && { createdAt }) };
}

function redactedResponse(response: InferenceResponse, by: Redaction): InferenceResponse {
  const { finishReason, rawFinishReason, usage, modelId, responseId, requestId } = response;
  const content = response.content.flatMap((part) => redactedPart(part, by) ?? []);
  return InferenceResponse.of({
    content,
    finishReason,
    rawFinishReason,
    usage,
    modelId,
    responseId,
    requestId,
  });
}

function redactedPart(part: AssistantPart, by: Redaction): AssistantPart | undefined {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: redactedText(part.text, by) };
    case 'tool-call':
      return redactedCall(part, by);
    case 'tool-result': {
      const { type, toolCallId, toolName, output } = part;
      return { type, toolCallId, toolName: redactedName(toolName, by), output: redactedOutput(output, by) };
    }
    default:
      return undefined;
  }
}

function redactedOutput(output: ToolOutput, by: Redaction): ToolOutput {
  const content = output.type === 'execution-denied' ? (output.reason ?? null) : output.value;
  return {
    type: output.type.startsWith('error') ? 'error-json' : 'json',
    value: by.content(toJsonValue(content)),
  };
}

function redactedCall(call: ToolExecution['call'], by: Redaction): ToolExecution['call'] {
  const { type, toolCallId, toolName, providerExecuted, invalid: problem } = call;
  const invalid = problem === undefined ? undefined : redactedText(problem, by);
  const shown = compact({
    type,
    toolCallId,
    toolName: redactedName(toolName, by),
    input: by.content(call.input),
    providerExecuted,
    invalid,
  }) as ToolExecution['call'];
  return withCallMarks(shown, callMarksOf(call));
}

/** Copies each member by name, as `redactedBody` does. */
function redactedTool(execution: ToolExecution, by: Redaction): ToolExecution {
  const { id, call, attempt, startedAt, completedAt, usage, waitingInside } = execution;
  const { outcome, approval, progress, answer, checkedArgs } = execution;
  const decision = approval?.decision && compact({ ...approval.decision, by: undefined, reason: undefined });
  const shown = redactedCall(call, by);
  const args = checkedArgs === undefined ? undefined : by.content(checkedArgs);
  const waiting = waitingInside.map((entry) => redactedWaiting(entry, by));
  return ToolExecution.fromJSON({
    id,
    call: shown,
    checkedArgs: args === undefined || isEqualJson(args, shown.input) ? undefined : args,
    attempt: attempt === 1 ? undefined : attempt,
    startedAt,
    completedAt,
    outcome: outcome && redactedOutcome(outcome, by),
    approval: approval && compact({ ...approval, decision }),
    answer: answer && redactedAnswer(answer, by),
    progress: progress === undefined ? undefined : by.content(progress),
    usage: usage === Usage.none ? undefined : usage.toJSON(),
    waitingInside: waiting.length === 0 ? undefined : waiting,
  });
}

function redactedAnswer({ at, outcome }: Answer, by: Redaction): Answer {
  return outcome ? { at, outcome: redactedOutcome(outcome, by) } : { at };
}

function redactedOutcome(outcome: ToolOutcome, by: Redaction): ToolOutcome {
  if (outcome.type === 'succeeded') return { type: outcome.type, value: by.content(outcome.value) };
  return { type: outcome.type, error: redactedError(outcome.error, by) };
}

function redactedError(error: ErrorRecord, by: Redaction): ErrorRecord {
  const { name, code, message, data, cause, errors } = error;
  return compact({
    name,
    message: redactedText(message, by),
    code,
    data: data === undefined ? undefined : by.content(data),
    cause: cause && redactedError(cause, by),
    errors: errors?.map((each) => redactedError(each, by)),
  }) as ErrorRecord;
}

function redactedSignal({ reason, message, context, source }: StopSignal, by: Redaction): StopSignal {
  const shown = context && by.content(context);
  return stopSignal({
    reason,
    message: redactedText(message, by),
    source,
    context: isJsonObject(shown) ? shown : undefined,
  });
}
