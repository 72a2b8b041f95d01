import type { DocumentReader, Members } from '../../document.ts';
import type { JsonValue } from '../../json.ts';
import type { ErrorRecord } from '../values/error-record.ts';
import { pushed } from '../values/frozen-array.ts';
import type { StepId } from '../values/ids.ts';
import { INFERENCE_NAMES, InferenceResponse } from './inference.ts';
import type { MessageRange, MessageView } from '../messages/message-refs.ts';
import type { Message, ToolCallPart } from '../messages/messages.ts';
import { readAssistantContent, readToolCall } from '../messages/messages.ts';
import type { StepRequest } from './request.ts';
import { TOOL_EXECUTION_NAMES, ToolExecution } from './tool-execution.ts';
import type { ToolOutcome } from './tool-outcome.ts';
import { readOutcomeWith } from './tool-outcome.ts';

/** A step as it is stored. @internal */
export interface StepDocument {
  id: StepId;
  input: MessageView;
  /** When it is another than that of the step before; `{}` for none. */
  request?: StepRequest;
  output?: readonly MessageRange[];
  /** Without its content when that is the content of the first message of the output. */
  response?: object;
  /** A call that is in the response by its id; no value where the output has it. */
  toolExecutions?: readonly object[];
  errors?: readonly ErrorRecord[];
}

/** The members of a stored step. @internal */
export const STEP_NAMES: readonly string[] = [
  'id',
  'input',
  'request',
  'output',
  'response',
  'toolExecutions',
  'errors',
];

/** Reads a response whose content may be in the output. @internal */
export function readResponse(
  reader: DocumentReader,
  value: unknown,
  output: readonly Message[],
): InferenceResponse {
  const members = reader.members(value, INFERENCE_NAMES);
  const [first] = output;
  const content =
    reader.optional(members, 'content', readAssistantContent) ??
    (first?.role === 'assistant' ? first.content : reader.fail('content, here or in the output', value));
  return InferenceResponse.readEnvelope(reader, members, content);
}

/** Reads the executions of a step, each call of which has one. @internal */
export function readToolExecutions(
  reader: DocumentReader,
  value: unknown,
  output: readonly Message[],
  response: InferenceResponse | undefined,
): readonly ToolExecution[] {
  if (!Array.isArray(value)) return reader.fail('an array', value);
  let executions: ToolExecution[] | undefined;
  for (let index = 0; index < value.length; index++) {
    reader.enter(index);
    executions = pushed(executions, readToolExecution(reader, value[index], output, response));
    reader.leave();
  }
  if (executions === undefined) return reader.fail('no such member, or one that says something', value);
  requireDistinct(reader, executions);
  return Object.freeze(executions);
}

function readToolExecution(
  reader: DocumentReader,
  value: unknown,
  output: readonly Message[],
  response: InferenceResponse | undefined,
): ToolExecution {
  const members = reader.members(value, TOOL_EXECUTION_NAMES);
  if ((members['call'] === undefined) === (members['toolCallId'] === undefined))
    reader.fail('a call or the id of one in the response', value);
  const call = reader.optional(members, 'call', readToolCall) ?? readCallId(reader, members, response);
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

/** Fails at an execution whose id or call one before it has. */
function requireDistinct(reader: DocumentReader, executions: readonly ToolExecution[]): void {
  if (executions.length < 2) return;
  const [ids, calls] = [new Set<string>(), new Set<string>()];
  for (const [index, { id, call }] of executions.entries()) {
    const { toolCallId } = call;
    reader.enter(index);
    if (ids.has(id)) reader.required({ id }, 'id', (r) => r.fail('an id that no other has', id));
    if (calls.has(toolCallId)) reader.fail('a call that no other is the execution of', toolCallId);
    reader.leave();
    ids.add(id);
    calls.add(toolCallId);
  }
}

/** An execution, without what the response or the output of its step says already. @internal */
export function encodeToolExecution(
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
  return execution.encode(
    isCallInResponse ? { toolCallId } : { call },
    isValueInOutput ? withoutValue(outcome) : outcome,
  );
}

/** A success whose value the output has. */
function withoutValue({ type, metadata }: ToolOutcome & { readonly type: 'succeeded' }): object {
  return metadata === undefined ? { type } : { type, metadata };
}

/** The call that an id stands for: the first of that id. */
function callInResponse(
  response: InferenceResponse | undefined,
  toolCallId: unknown,
): ToolCallPart | undefined {
  if (response === undefined) return undefined;
  for (const part of response.content) {
    if (part.type === 'tool-call' && part.toolCallId === toolCallId && part.providerExecuted !== true)
      return part;
  }
  return undefined;
}

/** The value of a call as its result in the output shows it; `undefined` when the result is not simply that value. */
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
