import {
  byClass,
  readString,
  shapeOf,
  since,
  type DocumentReader,
  type Fields,
  type Members,
} from '../../document.ts';
import { isSameJson, type JsonValue } from '../../json.ts';
import type { Init } from '../values/copy.ts';
import { isUnresolved, readErrorRecords, type ErrorRecord } from '../values/error-record.ts';
import { StepId } from '../values/ids.ts';
import { readInferenceFailures, writeInferenceFailure } from '../inference/inference-failure.ts';
import type {
  MessageRefReader,
  MessageRefWriter,
  MessageRange,
  MessageView,
} from '../messages/message-refs.ts';
import { readStepRequest, type StepRequest } from '../inference/request.ts';
import { TOOL_EXECUTION, writeToolExecution } from '../tools/tool-execution-document.ts';
import { isHandledByLoop, needsProviderApproval } from '../messages/call-marks.ts';
import { NOTHING, pushTo, some } from '../values/frozen-array.ts';
import {
  hasHttpFacts,
  INFERENCE,
  InferenceResponse,
  writeEnvelope,
} from '../inference/inference-response.ts';
import {
  readAssistantContent,
  readToolCall,
  type Message,
  type Messages,
  type ToolCallPart,
} from '../messages/messages.ts';
import { ToolExecution } from '../tools/tool-execution.ts';
import { readOutcomeWith, type ToolOutcome } from '../tools/tool-outcome.ts';

export const STEP = shapeOf({
  id: StepId.read,
  input: byClass,
  'request?': byClass,
  'output?': byClass,
  'response?': byClass,
  'toolExecutions?': byClass,
  'errors?': readErrorRecords,
  'inferenceFailures?': since(2, readInferenceFailures),
  'fingerprint?': since(2, readString),
});

export type StepFields = Fields<typeof STEP, 'errors' | 'inferenceFailures'> & {
  readonly input: Messages;
  readonly request: StepRequest | undefined;
  readonly taggedOutput: readonly Message[];
  readonly response: InferenceResponse | undefined;
  readonly toolExecutions: readonly ToolExecution[];
};

export type StepInit = Init<StepFields, 'id' | 'input'>;

/** The stored form of a step. */
export interface StepDocument {
  id: StepId;
  input: MessageView;
  /** The request, if it differs from the request of the step before; `{}` for none. */
  request?: StepRequest;
  output?: readonly MessageRange[];
  /** The response. Its content is omitted when the first message of the output has the same content. */
  response?: object;
  /** The tool executions. A call in the response is written as its id; a value in the output is omitted. */
  toolExecutions?: readonly object[];
  errors?: readonly ErrorRecord[];
  inferenceFailures?: readonly object[];
  fingerprint?: string;
}

/** Returns the document of a step that follows `previous`, with its messages by reference. */
export function writeStep(step: StepFields, refs: MessageRefWriter, previous?: StepFields): StepDocument {
  const { id, input, request, taggedOutput, response, toolExecutions, errors } = step;
  const { inferenceFailures, fingerprint } = step;
  const document: StepDocument = { id, input: refs.view(input, previous?.input) };
  if (!isSameJson(request, previous?.request)) document.request = request ?? {};
  const output = refs.ranges(taggedOutput);
  if (output !== undefined) document.output = output;
  if (response !== undefined) {
    const isContentInOutput =
      taggedOutput[0]?.role === 'assistant' && taggedOutput[0].content === response.content;
    document.response = isContentInOutput ? writeEnvelope(response) : response.toJSON();
  }
  if (toolExecutions.length > 0)
    document.toolExecutions = toolExecutions.map((one) => writeToolExecutionOf(one, taggedOutput, response));
  if (errors.length > 0) document.errors = errors;
  if (inferenceFailures.length > 0) document.inferenceFailures = inferenceFailures.map(writeInferenceFailure);
  if (fingerprint !== undefined) document.fingerprint = fingerprint;
  return document;
}

/** Returns the lowest format version that can hold a step. */
export function versionOfStep(step: StepFields): number {
  const { request, response, toolExecutions, errors, inferenceFailures } = step;
  if (request !== undefined || inferenceFailures.length > 0 || step.fingerprint !== undefined) return 2;
  if (response !== undefined && hasHttpFacts(response)) return 2;
  return some(toolExecutions, hasNewMember) || some(errors, isResolved) ? 2 : 1;
}

function isResolved(error: ErrorRecord): boolean {
  return !isUnresolved(error);
}

/** True for a tool execution with a member, or with a kind of call, that version 1 does not have. */
function hasNewMember({ waitingInside, approval, answer, call, checkedArgs }: ToolExecution): boolean {
  if (waitingInside.length > 0 || answer !== undefined || approval?.requestNumber !== undefined) return true;
  if (checkedArgs !== undefined) return true;
  return needsProviderApproval(call);
}

/** Reads the members of a step that follows `previous`, except those that are independent of other members. */
export function readStep(
  reader: DocumentReader,
  members: Members,
  refs: MessageRefReader,
  previous?: StepFields,
): StepInit {
  const { id, request, output, response: answer, toolExecutions: calls } = members;
  reader.enter('input');
  const input = refs.view(reader, members['input'], previous?.input);
  reader.leave();
  const taggedOutput =
    output === undefined ? NOTHING : Object.freeze(reader.required(members, 'output', refs.messages));
  reader.enter('response');
  const response = answer === undefined ? undefined : readResponse(reader, answer, taggedOutput);
  reader.leave();
  reader.enter('toolExecutions');
  const toolExecutions =
    calls === undefined ? undefined : readToolExecutions(reader, calls, taggedOutput, response);
  reader.leave();
  return {
    id: StepId.is(id) ? id : reader.required(members, 'id', StepId.read),
    input,
    request: request === undefined ? previous?.request : reader.required(members, 'request', readRequest),
    taggedOutput,
    response,
    toolExecutions,
  };
}

const readRequest = since(2, readStepRequest);

/** Reads a response whose content may be in the output. */
function readResponse(reader: DocumentReader, value: unknown, output: readonly Message[]): InferenceResponse {
  const members = reader.members(value, INFERENCE.members);
  const [first] = output;
  const content =
    reader.optional(members, 'content', readAssistantContent) ??
    (first?.role === 'assistant'
      ? first.content
      : reader.fail('content, in the response or in the output', value));
  return InferenceResponse.readEnvelope(reader, members, content);
}

/** Reads the tool executions of a step. Each call has at most one. */
function readToolExecutions(
  reader: DocumentReader,
  value: unknown,
  output: readonly Message[],
  response: InferenceResponse | undefined,
): readonly ToolExecution[] {
  if (!Array.isArray(value)) return reader.fail('an array', value);
  let executions: ToolExecution[] | undefined;
  for (let index = 0; index < value.length; index++) {
    reader.enter(index);
    executions = pushTo(executions, readToolExecution(reader, value[index], output, response));
    reader.leave();
  }
  if (executions === undefined) return reader.fail('a non-empty value, or an omitted member', value);
  requireDistinct(reader, executions);
  return Object.freeze(executions);
}

function readToolExecution(
  reader: DocumentReader,
  value: unknown,
  output: readonly Message[],
  response: InferenceResponse | undefined,
): ToolExecution {
  const members = reader.members(value, TOOL_EXECUTION.members);
  if ((members['call'] === undefined) === (members['toolCallId'] === undefined))
    reader.fail('either a call or the id of a call in the response', value);
  const call = reader.optional(members, 'call', readToolCall) ?? readCallId(reader, members, response);
  if (reader.version < 2 && needsProviderApproval(call))
    reader.fail('no call with an approval for the provider before version 2', value);
  const outcome = members['outcome'];
  if (outcome === undefined) return ToolExecution.decode(reader, members, call, undefined);
  reader.enter('outcome');
  const read = readOutcomeWith(reader, outcome, valueInOutput(output, call.toolCallId));
  reader.leave();
  return ToolExecution.decode(reader, members, call, read);
}

function readCallId(
  reader: DocumentReader,
  { toolCallId }: Members,
  response: InferenceResponse | undefined,
): ToolCallPart {
  const call = callInResponse(response, toolCallId);
  if (call !== undefined) return call;
  reader.enter('toolCallId');
  return reader.fail('the id of a call in the response', toolCallId);
}

/** Fails at the first execution with a repeated id or call. */
function requireDistinct(reader: DocumentReader, executions: readonly ToolExecution[]): void {
  if (executions.length < 2) return;
  const [ids, calls] = [new Set<string>(), new Set<string>()];
  for (const [index, { id, call }] of executions.entries()) {
    const { toolCallId } = call;
    reader.enter(index);
    if (ids.has(id)) reader.required({ id }, 'id', (r) => r.fail('a unique id', id));
    if (calls.has(toolCallId)) reader.fail('a call without another execution', toolCallId);
    reader.leave();
    ids.add(id);
    calls.add(toolCallId);
  }
}

/** Returns the document of a tool execution, without the parts that the response or the output of its step has. */
function writeToolExecutionOf(
  execution: ToolExecution,
  output: readonly Message[],
  response: InferenceResponse | undefined,
): object {
  const { call, outcome } = execution;
  const { toolCallId } = call;
  const isCallInResponse = callInResponse(response, toolCallId) === call;
  const isValueInOutput =
    outcome?.type === 'succeeded' &&
    outcome.modelOutput === undefined &&
    valueInOutput(output, toolCallId) === outcome.value;
  const shownOutcome = isValueInOutput ? withoutValue(outcome) : outcome;
  return writeToolExecution(execution, isCallInResponse ? { toolCallId } : { call }, shownOutcome);
}

/** Returns the document of a success whose value is in the output. */
function withoutValue({ type, metadata }: ToolOutcome & { readonly type: 'succeeded' }): object {
  return metadata === undefined ? { type } : { type, metadata };
}

/** Returns the first call with an id that the loop handles. */
function callInResponse(
  response: InferenceResponse | undefined,
  toolCallId: unknown,
): ToolCallPart | undefined {
  if (response === undefined) return undefined;
  for (const part of response.content) {
    if (part.type === 'tool-call' && part.toolCallId === toolCallId && isHandledByLoop(part)) return part;
  }
  return undefined;
}

/** Returns the value of a call from its result in the output; `undefined` when the result shows something else. */
function valueInOutput(output: readonly Message[], toolCallId: string): JsonValue | undefined {
  for (const message of output) {
    if (message.role !== 'tool') continue;
    for (const { toolCallId: id, output: shown } of message.content) {
      if (id !== toolCallId) continue;
      if (shown.type === 'text') return shown.value;
      if (shown.type === 'json' && typeof shown.value !== 'string') return shown.value;
      break;
    }
  }
  return undefined;
}
