import { systemClock, type Instant } from '../../clock.ts';
import { DocumentReader, readInto, type Members } from '../../document.ts';
import { isSameJson } from '../../json.ts';
import { draft, freeze } from '../values/copy.ts';
import { resolvedErrors, toErrorRecord, type ErrorRecord } from '../values/error-record.ts';
import { NOTHING, some } from '../values/frozen-array.ts';
import { StepId } from '../values/ids.ts';
import { InferenceResponse } from '../inference/inference-response.ts';
import { usageOfFailures, type InferenceFailure } from '../inference/inference-failure.ts';
import { Usage } from '../inference/usage.ts';
import { List } from '../values/list.ts';
import { readStandalone, writeStandalone, type MessageRefReader } from '../messages/message-refs.ts';
import { withoutTags, withTags, type MessageTags } from '../messages/message-tags.ts';
import { callMarksOf } from '../messages/call-marks.ts';
import type { AssistantPart, Message, Messages, ToolCallPart } from '../messages/messages.ts';
import { isAllowed, readGivenRequest, type StepRequest } from '../inference/request.ts';
import { readStep, STEP, writeStep, type StepFields, type StepInit } from './step-document.ts';
import { messageIdsOf, newStepMessageIds, outputOf, type StepMessageIds } from './step-output.ts';
import { checkedCopy, requireObject, wrongArgument } from '../../arguments.ts';
import { ToolExecution } from '../tools/tool-execution.ts';
import { callsWithout, executionOf, putExecutions } from '../tools/tool-executions.ts';
import { outcomeAtEnd } from '../tools/tool-outcome.ts';

/** The type of a step. It is derived and never stored. */
export type StepType = 'toolExecution' | 'finalResponse' | 'error';

/** One inference and the tool calls of its response. */
export class AgentStep {
  readonly id: StepId;
  /** The messages that the model received. */
  readonly input: Messages;
  /** The request, where it differs from the state: `AgentState.requestOf()` returns the effective request. */
  readonly request: StepRequest | undefined;
  /** The output as it stands in the conversation: with tags after the step is closed. @internal */
  readonly taggedOutput: readonly Message[];
  readonly response: InferenceResponse | undefined;
  /** The tool executions in the order of the calls, not of their completion. */
  readonly toolExecutions: readonly ToolExecution[];
  /** Errors of inference and hooks. Tool errors are in the tool executions. */
  readonly errors: readonly ErrorRecord[];
  /** The failed calls of the model that the step repeats, in order. */
  readonly inferenceFailures: readonly InferenceFailure[];
  /**
   * The fingerprint of the request: its model, system prompt, tools and messages. Present when the response has reasoning,
   * which is sent again only after the same request.
   */
  readonly fingerprint: string | undefined;
  #output: readonly Message[] | undefined;

  /** The caller freezes the new object. */
  private constructor(fields: StepInit) {
    this.id = fields.id;
    this.input = fields.input;
    this.request = fields.request;
    this.taggedOutput = fields.taggedOutput ?? NOTHING;
    this.response = fields.response;
    this.toolExecutions = fields.toolExecutions ?? NOTHING;
    this.errors = fields.errors ?? NOTHING;
    this.inferenceFailures = fields.inferenceFailures ?? NOTHING;
    this.fingerprint = fields.fingerprint;
  }

  private with(changes: Partial<StepFields>): AgentStep {
    return freeze(Object.assign(new AgentStep(this), changes));
  }

  /** Creates a step with only its input. @throws HoldfastError `ID_INVALID` for an id that is not a UUID. */
  static create(input: Messages = List.empty(), id: StepId = StepId.create()): AgentStep {
    requireMessages(input);
    return freeze(new AgentStep({ id: StepId.parse(id), input }));
  }

  /** The messages that the step adds to the conversation, without tags; empty until the step is closed. */
  get output(): readonly Message[] {
    return (this.#output ??= Object.freeze(this.taggedOutput.map(withoutTags)));
  }

  /**
   * The type is `error` after any error, else `toolExecution` when the response has tool calls that the loop handles or
   * calls whose results the provider returns later, else `finalResponse`.
   */
  get type(): StepType {
    if (this.errors.length > 0) return 'error';
    if (some(this.toolExecutions, makesStepError)) return 'error';
    return this.hasOpenCalls ? 'toolExecution' : 'finalResponse';
  }

  /** The tool calls of the response that the loop handles, in the model's order. */
  get requestedToolCalls(): readonly ToolCallPart[] {
    return this.response?.toolCalls ?? NOTHING;
  }

  /** True when the response has tool calls that the loop handles. */
  get hasToolCalls(): boolean {
    return this.response?.hasToolCalls ?? false;
  }

  /** True when another step follows the calls: tool calls that the loop handles, or deferred calls. @internal */
  get hasOpenCalls(): boolean {
    return this.hasToolCalls || some(this.response?.content ?? NOTHING, isDeferredCall);
  }

  /** True when the response is the final response. An aborted or failed response is not final. */
  get isFinalResponse(): boolean {
    if (this.response === undefined || this.type !== 'finalResponse') return false;
    const { finishReason } = this.response;
    return finishReason !== 'aborted' && finishReason !== 'error';
  }

  /** The calls that were started: neither blocked by a hook nor denied by a person. */
  get executedToolCalls(): readonly ToolCallPart[] {
    return this.toolExecutions
      .filter(({ startedAt }) => startedAt !== undefined)
      .filter(({ outcome }) => outcome?.type !== 'blocked' && outcome?.type !== 'denied')
      .map((execution) => execution.call);
  }

  /** The requested calls without an execution. */
  get pendingToolCalls(): readonly ToolCallPart[] {
    return callsWithout(this.toolExecutions, this.requestedToolCalls);
  }

  /**
   * The calls to run, in the model's order: calls without an execution that the request allowed, and approved calls.
   */
  get callsToRun(): readonly ToolCallPart[] {
    const choice = this.request?.toolChoice;
    const requested = this.pendingToolCalls;
    const pending = choice === undefined ? requested : requested.filter((call) => isAllowed(call, choice));
    const approved = approvedExecutions(this.toolExecutions);
    if (approved.length === 0) return pending;
    const ids = new Set(pending.map(({ toolCallId }) => toolCallId));
    for (const { call } of approved) ids.add(call.toolCallId);
    const wanted = this.requestedToolCalls.filter(({ toolCallId }) => ids.has(toolCallId));
    return wanted.map((call) => this.executionOf(call.toolCallId)?.call ?? call);
  }

  get hasErrors(): boolean {
    return this.errors.length > 0 || this.toolExecutions.some((execution) => execution.hasError);
  }

  /** All errors of inference, hooks and tools. */
  get allErrors(): readonly ErrorRecord[] {
    return [...this.errors, ...this.toolExecutions.flatMap(({ error }) => error ?? [])];
  }

  /** The usage of the calls of the model, failed calls included, and of the tools themselves. */
  get usage(): Usage {
    let usage = this.response?.usage ?? Usage.none;
    if (this.inferenceFailures.length > 0) usage = usage.plus(usageOfFailures(this.inferenceFailures));
    if (some(this.toolExecutions, hasUsage))
      for (const execution of this.toolExecutions) usage = usage.plus(execution.usage);
    return usage;
  }

  /** The text of the response; `''` without text. */
  get text(): string {
    return this.response?.text ?? '';
  }

  /** Returns the execution of a call, by the call's id. */
  executionOf(toolCallId: string): ToolExecution | undefined {
    return executionOf(this.toolExecutions, toolCallId);
  }

  /** Returns the step with another input. */
  withInput(input: Messages): AgentStep {
    requireMessages(input);
    return input === this.input ? this : this.with({ input });
  }

  /**
   * Returns the step with another request than the state's. @throws HoldfastError `CONTEXT_INVALID` for an unknown
   * setting.
   */
  withRequest(request: StepRequest | undefined): AgentStep {
    const checkedRequest =
      request === undefined ? undefined : checkedCopy('request', request, readGivenRequest);
    return isSameJson(checkedRequest, this.request) ? this : this.with({ request: checkedRequest });
  }

  /** Returns the step with a response, and the fingerprint of its request. Existing output is removed. */
  withResponse(response: InferenceResponse, fingerprint?: string): AgentStep {
    if (!(response instanceof InferenceResponse))
      throw wrongArgument(response, 'a response, as returned by InferenceResponse.of()');
    if (response === this.response) return this;
    const next = new AgentStep(this);
    draft(next).response = response;
    draft(next).fingerprint = fingerprint;
    draft(next).taggedOutput = NOTHING;
    return freeze(next);
  }

  /** The failed call that the loop has yet to repeat; `undefined` without such a call. */
  get pendingRetry(): InferenceFailure | undefined {
    const last = this.response === undefined ? this.inferenceFailures.at(-1) : undefined;
    return last?.retriedAt === undefined ? last : undefined;
  }

  /** Returns the step with a failed call of its model, to be repeated. @internal */
  withInferenceFailure(failure: InferenceFailure): AgentStep {
    return this.with({ inferenceFailures: Object.freeze([...this.inferenceFailures, failure]) });
  }

  /** Returns the step with its failed call marked as repeated. @internal */
  withInferenceRetried(at: Instant): AgentStep {
    const { pendingRetry } = this;
    if (pendingRetry === undefined) return this;
    const retried = Object.freeze({ ...pendingRetry, retriedAt: at });
    return this.with({ inferenceFailures: Object.freeze([...this.inferenceFailures.slice(0, -1), retried]) });
  }

  /** Returns the step with its errors marked as resolved. @internal */
  withErrorsResolved(at: Instant): AgentStep {
    const errors = resolvedErrors(this.errors, at);
    return errors === this.errors ? this : this.with({ errors });
  }

  withError(error: ErrorRecord): AgentStep {
    return this.with({ errors: Object.freeze([...this.errors, toErrorRecord(error)]) });
  }

  /**
   * Returns the step with an execution added, or with the execution of the same id replaced. Existing output is
   * removed.
   * @throws RangeError `ARGUMENT_INVALID` for a second execution of one call.
   */
  withToolExecution(execution: ToolExecution): AgentStep {
    requireToolExecution(execution);
    return this.withToolExecutions([execution]);
  }

  /** Returns the step with several executions, as by `withToolExecution`. @internal */
  withToolExecutions(executions: readonly ToolExecution[]): AgentStep {
    const toolExecutions = putExecutions(this.toolExecutions, executions, this.requestedToolCalls);
    if (toolExecutions === this.toolExecutions) return this;
    const next = new AgentStep(this);
    draft(next).toolExecutions = toolExecutions;
    draft(next).taggedOutput = NOTHING;
    return freeze(next);
  }

  /**
   * Returns the step with its output: one assistant message, then the results in call order. A call that was not run
   * gets a result that states this. A failed response adds no output, unless one of its calls was started.
   */
  withOutput(ids: StepMessageIds = newStepMessageIds(), at: Instant = systemClock.now()): AgentStep {
    requireObject(ids, 'message ids, as returned by newStepMessageIds()');
    return this.taggedOutput.length > 0 ? this : this.assembleOutput(ids, at);
  }

  /**
   * Returns the step with its output as it stands in the conversation: with tags. Without `ids`, the ids of the
   * messages derive from the id of the step. @internal
   */
  withTaggedOutput(tags: MessageTags, ids: StepMessageIds | undefined, at: Instant): AgentStep {
    if (this.taggedOutput.length === 0) return this.assembleOutput(ids, at, tags);
    const taggedOutput = Object.freeze(this.taggedOutput.map((message) => withTags(message, tags)));
    return this.with({ taggedOutput });
  }

  private assembleOutput(ids: StepMessageIds | undefined, at: Instant, tags?: MessageTags): AgentStep {
    if (!this.hasOutput) return this;
    const next = new AgentStep(this);
    draft(next).taggedOutput = outputOf(this, ids ?? messageIdsOf(this.id), at, tags);
    return freeze(next);
  }

  /**
   * True when the step adds messages to the conversation. A started call is always added, also when the response
   * failed.
   */
  private get hasOutput(): boolean {
    const isWhole = this.response !== undefined && this.response.finishReason !== 'error';
    return isWhole || some(this.toolExecutions, wasStarted);
  }

  toJSON(): object {
    return writeStandalone((refs) => writeStep(this, refs));
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): AgentStep {
    return DocumentReader.read(json, readStandaloneStep);
  }

  /** @internal */
  static decode(
    reader: DocumentReader,
    members: Members,
    refs: MessageRefReader,
    previous?: AgentStep,
  ): AgentStep {
    const read = new AgentStep(readStep(reader, members, refs, previous));
    if (hasOwnMembers(members)) readInto(reader, members, STEP, read);
    return freeze(read);
  }
}

/** True when the provider returns the result of the call in a later response. */
function isDeferredCall(part: AssistantPart): boolean {
  return part.type === 'tool-call' && part.providerExecuted === true && callMarksOf(part).isDeferred === true;
}

function makesStepError({ rule }: ToolExecution): boolean {
  return rule?.makesStepError ?? false;
}

/** True for a call in doubt: it was started, in this or an earlier attempt, and has no outcome. */
function isInDoubt({ startedAt, attempt, outcome }: ToolExecution): boolean {
  return outcome === undefined && (startedAt !== undefined || attempt > 1);
}

function wasStarted({ startedAt }: ToolExecution): boolean {
  return startedAt !== undefined;
}

function hasUsage({ usage }: ToolExecution): boolean {
  return usage !== Usage.none;
}

function hasApproval({ approval }: ToolExecution): boolean {
  return approval !== undefined;
}

function approvedExecutions(executions: readonly ToolExecution[]): readonly ToolExecution[] {
  return some(executions, hasApproval) ? executions.filter(({ isApproved }) => isApproved) : NOTHING;
}

function hasOwnMembers({ errors, inferenceFailures, fingerprint }: Members): boolean {
  return errors !== undefined || inferenceFailures !== undefined || fingerprint !== undefined;
}

const readStandaloneStep = readStandalone((reader, members, refs) =>
  AgentStep.decode(reader, reader.members(members, STEP.members), refs),
);

/** Returns the step with each call in doubt `interrupted`. */
export function withCallsEnded(step: AgentStep, at: Instant): AgentStep {
  const { toolExecutions } = step;
  if (!some(toolExecutions, isInDoubt)) return step;
  return step.withToolExecutions(
    toolExecutions.map((execution) =>
      isInDoubt(execution) ? execution.withCheckedOutcome(outcomeAtEnd(execution), at) : execution,
    ),
  );
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireStep(step: AgentStep): void {
  if (!(step instanceof AgentStep)) throw wrongArgument(step, 'a step, as returned by AgentStep.create()');
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireToolExecution(execution: ToolExecution): void {
  if (!(execution instanceof ToolExecution))
    throw wrongArgument(execution, 'an execution, as returned by ToolExecution.create()');
}

function requireMessages(messages: Messages): void {
  if (!(messages instanceof List)) throw wrongArgument(messages, 'messages, as returned by List.from()');
}
