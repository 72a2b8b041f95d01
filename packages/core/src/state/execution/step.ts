import type { Instant } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import type { Members } from '../../document.ts';
import { checkedCopy, DocumentReader } from '../../document.ts';
import { isSameJson } from '../../json.ts';
import { draft, freeze } from '../values/copy.ts';
import type { ErrorRecord } from '../values/error-record.ts';
import { resolvedErrors, toErrorRecord } from '../values/error-record.ts';
import { some } from '../values/frozen-array.ts';
import { StepId } from '../values/ids.ts';
import { InferenceResponse } from '../inference/inference-response.ts';
import type { InferenceFailure } from '../inference/inference-failure.ts';
import { usageOfFailures } from '../inference/inference-failure.ts';
import { Usage } from '../inference/usage.ts';
import { List } from '../values/list.ts';
import type { MessageRefReader } from '../documents/message-refs.ts';
import { readStandalone, writeStandalone } from '../documents/message-refs.ts';
import type { MessageTags } from '../messages/message-tags.ts';
import { withoutTags, withTags } from '../messages/message-tags.ts';
import type { Message, Messages, ToolCallPart } from '../messages/messages.ts';
import type { StepRequest } from '../inference/request.ts';
import { readGivenRequest } from '../inference/request.ts';
import type { StepFields, StepInit } from '../documents/step-document.ts';
import { readStep, writeStep } from '../documents/step-document.ts';
import type { StepMessageIds } from './step-output.ts';
import { messageIdsOf, newStepMessageIds, outputOf } from './step-output.ts';
import { requireObject, wrongArgument } from '../../arguments.ts';
import { STEP_NAMES } from '../documents/step-document.ts';
import { ToolExecution } from './tool-execution.ts';
import { callsWithout, executionOf, putExecutions } from './tool-executions.ts';
import { interruptedOutcome } from './tool-outcome.ts';

/** What a step came to. Derived, never stored. */
export type StepType = 'toolExecution' | 'finalResponse' | 'error';

const NOTHING: readonly never[] = Object.freeze([]);

/** One turn of the model and the tools it asked for. */
export class AgentStep {
  readonly id: StepId;
  /** What the model was shown. */
  readonly input: Messages;
  /** What its model was called with, as far as the state does not say so: `AgentState.requestOf()` says all of it. */
  readonly request: StepRequest | undefined;
  /** The output as the conversation has it: with tags once the step is closed. @internal */
  readonly taggedOutput: readonly Message[];
  readonly response: InferenceResponse | undefined;
  /** In the order of the calls, whatever order they finished in. */
  readonly toolExecutions: readonly ToolExecution[];
  /** Errors of inference and hooks; those of tools are in their executions. */
  readonly errors: readonly ErrorRecord[];
  /** Calls of the model that failed and that the step repeats or repeated, in order. */
  readonly inferenceFailures: readonly InferenceFailure[];
  #output: readonly Message[] | undefined;

  /** Not frozen yet. */
  private constructor(fields: StepInit) {
    this.id = fields.id;
    this.input = fields.input;
    this.request = fields.request;
    this.taggedOutput = fields.taggedOutput ?? NOTHING;
    this.response = fields.response;
    this.toolExecutions = fields.toolExecutions ?? NOTHING;
    this.errors = fields.errors ?? NOTHING;
    this.inferenceFailures = fields.inferenceFailures ?? NOTHING;
  }

  private with(changes: Partial<StepFields>): AgentStep {
    return freeze(Object.assign(new AgentStep(this), changes));
  }

  /** A step that has its input and nothing else. @throws HoldfastError `ID_INVALID` for an id that is not a UUID. */
  static create(input: Messages = List.empty(), id: StepId = StepId.create()): AgentStep {
    requireMessages(input);
    return freeze(new AgentStep({ id: StepId.parse(id), input }));
  }

  /** What the step adds to the conversation, without the tags it gets there; empty until the step closes. */
  get output(): readonly Message[] {
    return (this.#output ??= Object.freeze(this.taggedOutput.map(withoutTags)));
  }

  /** Any error makes it `error`, else requested tools `toolExecution`, else it is the `finalResponse`. */
  get type(): StepType {
    if (this.errors.length > 0) return 'error';
    if (some(this.toolExecutions, makesStepError)) return 'error';
    return this.hasToolCalls ? 'toolExecution' : 'finalResponse';
  }

  /** What the model asked for, in its order. */
  get requestedToolCalls(): readonly ToolCallPart[] {
    return this.response?.toolCalls ?? NOTHING;
  }

  /** Did the model ask for tools? */
  get hasToolCalls(): boolean {
    return this.response?.hasToolCalls ?? false;
  }

  /** Is it the answer of the execution? One that was aborted or broke off is not. */
  get isFinalResponse(): boolean {
    if (this.response === undefined || this.type !== 'finalResponse') return false;
    const { finishReason } = this.response;
    return finishReason !== 'aborted' && finishReason !== 'error';
  }

  /** What was really begun: neither blocked by a hook nor denied by a person. */
  get executedToolCalls(): readonly ToolCallPart[] {
    return this.toolExecutions
      .filter(({ startedAt }) => startedAt !== undefined)
      .filter(({ outcome }) => outcome?.type !== 'blocked' && outcome?.type !== 'denied')
      .map((execution) => execution.call);
  }

  /** Requested calls that have no execution yet. */
  get pendingToolCalls(): readonly ToolCallPart[] {
    return callsWithout(this.toolExecutions, this.requestedToolCalls);
  }

  /** Calls to be run, in the model's order: those without an execution, and those that a person has approved. */
  get callsToRun(): readonly ToolCallPart[] {
    const pending = this.pendingToolCalls;
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

  /** All errors: of inference, hooks and tools. */
  get allErrors(): readonly ErrorRecord[] {
    return [...this.errors, ...this.toolExecutions.flatMap(({ error }) => error ?? [])];
  }

  /** The usage of its calls of the model, failed ones included, and of its tools themselves. */
  get usage(): Usage {
    let usage = this.response?.usage ?? Usage.none;
    if (this.inferenceFailures.length > 0) usage = usage.plus(usageOfFailures(this.inferenceFailures));
    if (some(this.toolExecutions, hasUsage))
      for (const execution of this.toolExecutions) usage = usage.plus(execution.usage);
    return usage;
  }

  /** What the model said; `''` when it said nothing. */
  get text(): string {
    return this.response?.text ?? '';
  }

  /** The execution of a call, by the call's id. */
  executionOf(toolCallId: string): ToolExecution | undefined {
    return executionOf(this.toolExecutions, toolCallId);
  }

  /** The same, shown something else. */
  withInput(input: Messages): AgentStep {
    requireMessages(input);
    return input === this.input ? this : this.with({ input });
  }

  /** The same, its model called with something else than the state says. @throws HoldfastError `CONTEXT_INVALID` for an unknown setting. */
  withRequest(request: StepRequest | undefined): AgentStep {
    const checkedRequest =
      request === undefined ? undefined : checkedCopy('request', request, readGivenRequest);
    return isSameJson(checkedRequest, this.request) ? this : this.with({ request: checkedRequest });
  }

  /** The same with the answer of its model. Output that was made before is taken back. */
  withResponse(response: InferenceResponse): AgentStep {
    if (!(response instanceof InferenceResponse))
      throw wrongArgument(response, 'a response as InferenceResponse.of() gives it');
    if (response === this.response) return this;
    const next = new AgentStep(this);
    draft(next).response = response;
    draft(next).taggedOutput = NOTHING;
    return freeze(next);
  }

  /** The failed call that waits to be repeated; `undefined` when none does. */
  get pendingRetry(): InferenceFailure | undefined {
    const last = this.response === undefined ? this.inferenceFailures.at(-1) : undefined;
    return last?.retriedAt === undefined ? last : undefined;
  }

  /** The same with a call of its model that failed and is to be repeated. @internal */
  withInferenceFailure(failure: InferenceFailure): AgentStep {
    return this.with({ inferenceFailures: Object.freeze([...this.inferenceFailures, failure]) });
  }

  /** The same, its failed call being repeated. @internal */
  withInferenceRetried(at: Instant): AgentStep {
    const { pendingRetry } = this;
    if (pendingRetry === undefined) return this;
    const retried = Object.freeze({ ...pendingRetry, retriedAt: at });
    return this.with({ inferenceFailures: Object.freeze([...this.inferenceFailures.slice(0, -1), retried]) });
  }

  /** The same with its errors marked as resolved. @internal */
  withErrorsResolved(at: Instant): AgentStep {
    const errors = resolvedErrors(this.errors, at);
    return errors === this.errors ? this : this.with({ errors });
  }

  withError(error: ErrorRecord): AgentStep {
    return this.with({ errors: Object.freeze([...this.errors, toErrorRecord(error)]) });
  }

  /**
   * The same with an execution added, or put in the place of the one with its id. Output that was made before is taken
   * back.
   * @throws RangeError `ARGUMENT_INVALID` for a second execution of one call.
   */
  withToolExecution(execution: ToolExecution): AgentStep {
    if (!(execution instanceof ToolExecution))
      throw wrongArgument(execution, 'an execution as ToolExecution.create() gives it');
    return this.withToolExecutions([execution]);
  }

  /** The same with several, as `withToolExecution` takes one. @internal */
  withToolExecutions(executions: readonly ToolExecution[]): AgentStep {
    const toolExecutions = putExecutions(this.toolExecutions, executions, this.requestedToolCalls);
    if (toolExecutions === this.toolExecutions) return this;
    const next = new AgentStep(this);
    draft(next).toolExecutions = toolExecutions;
    draft(next).taggedOutput = NOTHING;
    return freeze(next);
  }

  /**
   * The same with its output: one assistant message, then the results in call order. Calls that were not run get
   * a result that says so. An answer that failed on the way stays out of the conversation, unless a call of it was started.
   */
  withOutput(ids: StepMessageIds = newStepMessageIds(), at: Instant = systemClock.now()): AgentStep {
    requireObject(ids, 'ids of messages as newStepMessageIds() gives them');
    return this.taggedOutput.length > 0 ? this : this.assembleOutput(ids, at);
  }

  /**
   * The same with its output as the conversation has it: with tags. Without ids, those of the messages follow from that of
   * the step. @internal
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

  /** Does it add anything to the conversation? What was started must be told of, whatever became of the answer. */
  private get hasOutput(): boolean {
    const isWhole = this.response !== undefined && this.response.finishReason !== 'error';
    return isWhole || some(this.toolExecutions, wasStarted);
  }

  toJSON(): object {
    return writeStandalone((refs) => writeStep(this, refs));
  }

  /** @throws StateFormatError when the document does not fit. */
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
    return freeze(new AgentStep(readStep(reader, members, refs, previous)));
  }
}

function makesStepError({ rule }: ToolExecution): boolean {
  return rule?.makesStepError ?? false;
}

/** May it have had its effect, though it has no outcome? A later attempt was started before, also when it waits to be again. */
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

/** Those that a person has approved. */
function approvedExecutions(executions: readonly ToolExecution[]): readonly ToolExecution[] {
  return some(executions, hasApproval) ? executions.filter(({ isApproved }) => isApproved) : NOTHING;
}

const NAMES = new Set(STEP_NAMES);
const readStandaloneStep = readStandalone((reader, members, refs) =>
  AgentStep.decode(reader, reader.members(members, NAMES), refs),
);

/** The step, each call that was started and has no outcome `interrupted`. */
export function withCallsEnded(step: AgentStep, at: Instant): AgentStep {
  const { toolExecutions } = step;
  if (!some(toolExecutions, isInDoubt)) return step;
  return step.withToolExecutions(
    toolExecutions.map((execution) =>
      isInDoubt(execution) ? execution.withCheckedOutcome(interruptedOutcome(execution), at) : execution,
    ),
  );
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireStep(step: AgentStep): void {
  if (!(step instanceof AgentStep)) throw wrongArgument(step, 'a step as AgentStep.create() gives it');
}

function requireMessages(messages: Messages): void {
  if (!(messages instanceof List)) throw wrongArgument(messages, 'messages as List.from() gives them');
}
