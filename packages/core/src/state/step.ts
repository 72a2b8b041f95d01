import type { Clock, Instant } from '../clock.ts';
import { secondsBetween, systemClock, toInstant } from '../clock.ts';
import type { DocumentReader, JsonValue, Members, Read } from '../json.ts';
import { compact, readInstant } from '../json.ts';
import { Continuation } from './continuation.ts';
import type { ErrorRecord } from './error-record.ts';
import { readErrorRecord, toErrorRecord } from './error-record.ts';
import { MessageId, StepId } from './ids.ts';
import { INFERENCE_NAMES, InferenceResponse, Usage } from './inference.ts';
import { List } from './list.ts';
import type { MessageRefReader, MessageRefWriter } from './message-refs.ts';
import type { Message, Messages, ToolCallPart, ToolResultPart } from './messages.ts';
import { messageOf, readAssistantContent, readToolCall } from './messages.ts';
import type { ToolOutcome } from './tool-execution.ts';
import { errorOutput, readOutcome, TOOL_EXECUTION_NAMES, ToolExecution } from './tool-execution.ts';

/** What a step came to. Derived, never stored. */
export type StepType = 'toolExecution' | 'finalResponse' | 'error';

interface AgentStepFields {
  readonly id: StepId;
  /** What the model was shown. */
  readonly input: Messages;
  /** What the step adds to the conversation; empty until the step closes. */
  readonly output: readonly Message[];
  readonly response: InferenceResponse | undefined;
  /** In the order of the calls, whatever order they finished in. */
  readonly toolExecutions: readonly ToolExecution[];
  /** Errors of inference and hooks; those of tools are in their executions. */
  readonly errors: readonly ErrorRecord[];
}

const NOTHING: readonly never[] = Object.freeze([]);

/** One turn of the model and the tools it asked for. */
export interface AgentStep extends AgentStepFields {}
export class AgentStep {
  private constructor(fields: AgentStepFields) {
    Object.freeze(Object.assign(this, fields));
  }

  /** A step that has its input and nothing else. */
  static start(input: Messages = List.empty(), id: StepId = StepId.create()): AgentStep {
    return new AgentStep({
      id,
      input,
      output: NOTHING,
      response: undefined,
      toolExecutions: NOTHING,
      errors: NOTHING,
    });
  }

  /** Any error makes it `error`, else requested tools `toolExecution`, else it is the `finalResponse`. */
  get type(): StepType {
    if (this.errors.length > 0) return 'error';
    if (this.toolExecutions.some((execution) => execution.rule?.makesStepError)) return 'error';
    return this.askedForTools ? 'toolExecution' : 'finalResponse';
  }

  /** What the model asked for, in its order. */
  get requestedToolCalls(): readonly ToolCallPart[] {
    return this.response?.toolCalls ?? NOTHING;
  }

  /** Did the model ask for tools? */
  get askedForTools(): boolean {
    return this.response?.hasToolCalls ?? false;
  }

  /** Is it the answer of the execution? One that was aborted is not. */
  get isAnswer(): boolean {
    return (
      this.type === 'finalResponse' && this.response !== undefined && this.response.finishReason !== 'aborted'
    );
  }

  /** What was really begun: neither blocked by a hook nor denied by a person. */
  get executedToolCalls(): readonly ToolCallPart[] {
    return this.toolExecutions
      .filter(({ outcome }) => outcome?.type !== 'blocked' && outcome?.type !== 'denied')
      .map((execution) => execution.call);
  }

  /** Requested calls that have no execution yet. */
  get pendingToolCalls(): readonly ToolCallPart[] {
    const calls = this.requestedToolCalls;
    if (calls.length === 0 || this.toolExecutions.length === 0) return calls;
    const begun = new Set(this.toolExecutions.map(({ call }) => call.toolCallId));
    return calls.filter(({ toolCallId }) => !begun.has(toolCallId));
  }

  get hasErrors(): boolean {
    return this.errors.length > 0 || this.toolExecutions.some((execution) => execution.hasError);
  }

  /** All errors: of inference, hooks and tools. */
  get allErrors(): readonly ErrorRecord[] {
    return [...this.errors, ...this.toolExecutions.flatMap(({ error }) => error ?? [])];
  }

  get usage(): Usage {
    return this.response?.usage ?? Usage.none;
  }

  /** What the model said; `''` when it said nothing. */
  get text(): string {
    return this.response?.text ?? '';
  }

  /** The execution of a call, by the call's id. */
  executionOf(toolCallId: string): ToolExecution | undefined {
    return this.toolExecutions.find((execution) => execution.call.toolCallId === toolCallId);
  }

  withResponse(response: InferenceResponse): AgentStep {
    return response === this.response ? this : new AgentStep({ ...this, response });
  }

  withError(error: ErrorRecord): AgentStep {
    return new AgentStep({ ...this, errors: Object.freeze([...this.errors, toErrorRecord(error)]) });
  }

  /** The same with an execution added, or put in the place of the one with its id. */
  withToolExecution(execution: ToolExecution): AgentStep {
    const index = this.toolExecutions.findIndex(({ id }) => id === execution.id);
    if (index >= 0 && this.toolExecutions[index] === execution) return this;
    if (index >= 0) {
      return new AgentStep({
        ...this,
        toolExecutions: Object.freeze(this.toolExecutions.with(index, execution)),
      });
    }
    return new AgentStep({ ...this, toolExecutions: Object.freeze(this.inCallOrder(execution)) });
  }

  private inCallOrder(added: ToolExecution): readonly ToolExecution[] {
    const executions = [...this.toolExecutions, added];
    const order = this.requestedToolCalls.map((call) => call.toolCallId);
    const rank = ({ call }: ToolExecution): number => order.indexOf(call.toolCallId) >>> 0;
    const last = this.toolExecutions.at(-1);
    if (last === undefined || rank(last) <= rank(added)) return executions;
    return executions.toSorted((left, right) => rank(left) - rank(right));
  }

  /**
   * The same with its output: one assistant message, then the results in call order. Calls that were not run get
   * a result that says so. An answer that failed on the way stays out of the conversation.
   */
  withOutput(clock: Clock = systemClock): AgentStep {
    const { response } = this;
    if (response === undefined || response.finishReason === 'error' || this.output.length > 0) return this;
    const output: Message[] = [];
    const newId = (): MessageId => MessageId.create(clock);
    if (response.content.length > 0)
      output.push(messageOf('assistant', { id: newId(), content: response.content }));
    const results = response.toolCalls.map((call) => this.resultOf(call));
    if (results.length > 0) output.push(messageOf('tool', { id: newId(), content: Object.freeze(results) }));
    return new AgentStep({ ...this, output: Object.freeze(output) });
  }

  private resultOf(call: ToolCallPart): ToolResultPart {
    const execution = this.executionOf(call.toolCallId);
    if (execution) return execution.toResultPart();
    const reason =
      this.response?.finishReason === 'tool-calls' ? 'the execution stopped' : this.response?.finishReason;
    const { toolCallId, toolName } = call;
    return Object.freeze({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: errorOutput(`Not run: ${reason}.`),
    });
  }

  /** The step with its messages by reference. @internal */
  encode(refs: MessageRefWriter, previousInput?: Messages): object {
    const [first] = this.output;
    const isContentInOutput = first?.role === 'assistant' && first.content === this.response?.content;
    return compact({
      id: this.id,
      input: refs.view(this.input, previousInput),
      output: refs.output(this.output),
      response: this.response && (isContentInOutput ? this.response.toEnvelope() : this.response.toJSON()),
      toolExecutions: nonEmpty(this.toolExecutions.map((execution) => this.encodeToolExecution(execution))),
      errors: nonEmpty(this.errors),
    });
  }

  private encodeToolExecution(execution: ToolExecution): object {
    const { call, outcome } = execution;
    const isCallInResponse = callInResponse(this.response, call.toolCallId) === call;
    const isValueInOutput =
      outcome?.type === 'succeeded' && valueInOutput(this.output, call.toolCallId) === outcome.value;
    return compact({
      ...execution.toEnvelope(),
      call: isCallInResponse ? call.toolCallId : call,
      outcome: isValueInOutput && outcome.output === undefined ? undefined : outcome,
    });
  }

  /** @internal */
  static decode(
    reader: DocumentReader,
    members: Members,
    refs: MessageRefReader,
    previous?: Messages,
  ): AgentStep {
    const input = reader.required(members, 'input', (r, value) => refs.view(r, value, previous));
    const output = reader.filled(members, 'output', refs.output) ?? NOTHING;
    const response = reader.optional(members, 'response', readResponse(output));
    const readExecutions: Read<readonly ToolExecution[]> = (r, value) =>
      Object.freeze(r.list(value, readStepToolExecution(output, response)));
    return new AgentStep({
      id: reader.required(members, 'id', StepId.read),
      input,
      output,
      response,
      toolExecutions: reader.filled(members, 'toolExecutions', readExecutions) ?? NOTHING,
      errors: reader.filled(members, 'errors', readErrors) ?? NOTHING,
    });
  }
}

/** The members of a stored step. @internal */
export const STEP_NAMES: readonly string[] = [
  'id',
  'input',
  'output',
  'response',
  'toolExecutions',
  'errors',
];

const readErrors: Read<readonly ErrorRecord[]> = (reader, value) =>
  Object.freeze(reader.list(value, readErrorRecord));

function readResponse(output: readonly Message[]): Read<InferenceResponse> {
  return (reader, value) => {
    const members = reader.members(value, INFERENCE_NAMES);
    const [first] = output;
    const content =
      reader.optional(members, 'content', readAssistantContent) ??
      (first?.role === 'assistant' ? first.content : reader.fail('content, here or in the output', value));
    return InferenceResponse.readEnvelope(reader, members, content);
  };
}

function readStepToolExecution(
  output: readonly Message[],
  response: InferenceResponse | undefined,
): Read<ToolExecution> {
  const readCall: Read<ToolCallPart> = (reader, value) => {
    if (typeof value !== 'string') return readToolCall(reader, value);
    return callInResponse(response, value) ?? reader.fail('the id of a call in the response', value);
  };
  return (reader, value) => {
    const members = reader.members(value, TOOL_EXECUTION_NAMES);
    const call = reader.required(members, 'call', readCall);
    const isFinished = members['completedAt'] !== undefined;
    const outcome =
      reader.optional(members, 'outcome', readOutcome) ??
      (isFinished ? outcomeInOutput(reader, output, call) : undefined);
    return ToolExecution.readEnvelope(reader, members, call, outcome);
  };
}

/** The call that an id stands for: the first of that id. */
function callInResponse(
  response: InferenceResponse | undefined,
  toolCallId: string,
): ToolCallPart | undefined {
  return response?.toolCalls.find((call) => call.toolCallId === toolCallId);
}

function outcomeInOutput(
  reader: DocumentReader,
  output: readonly Message[],
  call: ToolCallPart,
): ToolOutcome {
  const value = valueInOutput(output, call.toolCallId);
  if (value === undefined) return reader.fail('an outcome, here or in the output', undefined);
  return Object.freeze({ type: 'succeeded', value });
}

/** The value of a call as its result in the output shows it; `undefined` when the result is not simply that value. */
function valueInOutput(output: readonly Message[], toolCallId: string): JsonValue | undefined {
  for (const message of output) {
    if (message.role !== 'tool') continue;
    const result = message.content.find((part) => part.toolCallId === toolCallId);
    if (result?.output.type === 'text') return result.output.value;
    if (result?.output.type === 'json' && typeof result.output.value !== 'string') return result.output.value;
  }
  return undefined;
}

function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

interface StepExecutionFields {
  readonly step: AgentStep;
  /** What was decided on when the step had finished. */
  readonly continuation: Continuation;
  readonly startedAt: Instant;
  readonly completedAt: Instant;
}

/** A finished step, when it ran and what spoke for stopping after it. */
export interface StepExecution extends StepExecutionFields {}
export class StepExecution {
  private constructor(fields: StepExecutionFields) {
    Object.freeze(Object.assign(this, fields));
  }

  static of({ step, continuation, startedAt, completedAt }: StepExecutionFields): StepExecution {
    const [start, end] = [toInstant(startedAt), toInstant(completedAt)];
    return new StepExecution({ step, continuation, startedAt: start, completedAt: Math.max(start, end) });
  }

  /** The step's id. */
  get id(): StepId {
    return this.step.id;
  }

  /** Seconds from before inference to the end. */
  get duration(): number {
    return secondsBetween(this.startedAt, this.completedAt);
  }

  get usage(): Usage {
    return this.step.usage;
  }

  /** Was there a reason to stop after this step? */
  get shouldStop(): boolean {
    return this.continuation.shouldStop(this.step.askedForTools);
  }

  /** @internal */
  encode(refs: MessageRefWriter, previousInput?: Messages): object {
    return compact({
      ...this.step.encode(refs, previousInput),
      continuation: this.continuation === Continuation.empty ? undefined : this.continuation.toJSON(),
      startedAt: this.startedAt,
      completedAt: this.completedAt,
    });
  }

  /** @internal */
  static decode(
    reader: DocumentReader,
    value: unknown,
    refs: MessageRefReader,
    previous?: Messages,
  ): StepExecution {
    const members = reader.members(value, STEP_EXECUTION_NAMES);
    const startedAt = reader.required(members, 'startedAt', readInstant);
    const completedAt = reader.required(members, 'completedAt', readInstant);
    if (completedAt < startedAt) reader.fail('completedAt not before startedAt', completedAt);
    return new StepExecution({
      step: AgentStep.decode(reader, members, refs, previous),
      continuation: reader.optional(members, 'continuation', Continuation.read) ?? Continuation.empty,
      startedAt,
      completedAt,
    });
  }
}

const STEP_EXECUTION_NAMES = new Set([...STEP_NAMES, 'continuation', 'startedAt', 'completedAt']);
