import { systemClock, toInstant, type Clock, type Instant } from '../../clock.ts';
import { metadataOf, type MessageTags } from '../messages/message-tags.ts';
import {
  assembleMessage,
  type AssistantPart,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
} from '../messages/messages.ts';
import { joined, mapped, NOTHING, pushTo, some } from '../values/frozen-array.ts';
import { MessageId, type StepId } from '../values/ids.ts';
import type { InferenceResponse } from '../inference/inference-response.ts';
import { isAllowed, type ToolChoice } from '../inference/request.ts';
import type { StepFields } from './step-document.ts';
import { errorOutput, resultPart, type ToolExecution } from '../tools/tool-execution.ts';
import { executionOf } from '../tools/tool-executions.ts';

/** The ids of the messages that a step adds. */
export interface StepMessageIds {
  readonly assistant: MessageId;
  readonly tool: MessageId;
}

/** Returns the ids of the messages of a step that is closed without given ids: they derive from the id of the step. */
export function messageIdsOf(id: StepId): StepMessageIds {
  return { assistant: MessageId.parse(`${id}/assistant`), tool: MessageId.parse(`${id}/tool`) };
}

/** Creates new ids for the messages of a step. */
export function newStepMessageIds(clock: Clock = systemClock): StepMessageIds {
  return { assistant: MessageId.create(clock), tool: MessageId.create(clock) };
}

/** Returns the messages that a step adds: an assistant message, then a message with the results in call order. */
export function outputOf(
  { request, response, toolExecutions }: Pick<StepFields, 'request' | 'response' | 'toolExecutions'>,
  ids: StepMessageIds,
  at: Instant,
  tags: MessageTags | undefined,
): readonly Message[] {
  let added: Message[] | undefined;
  const requested = response?.toolCalls ?? NOTHING;
  const others = startedBeside(toolExecutions, requested);
  const toolCalls = others.length === 0 ? requested : joined(requested, others);
  const said: readonly AssistantPart[] = response?.content ?? NOTHING;
  const content = others.length === 0 ? said : Object.freeze(joined(said, others));
  const createdAt = toInstant(at);
  const metadata = tags && metadataOf(tags);
  if (content.length > 0) {
    const id = MessageId.parse(ids.assistant);
    added = pushTo(added, assembleMessage('assistant', { id, createdAt, content, metadata }));
  }
  if (toolCalls.length > 0) {
    const results = mapped(toolCalls, (call, place) => {
      const execution = executionOf(toolExecutions, call.toolCallId, place);
      return execution?.toResultPart() ?? notRun(call, response, request?.toolChoice);
    });
    const id = MessageId.parse(ids.tool);
    added = pushTo(
      added,
      assembleMessage('tool', { id, createdAt, content: Object.freeze(results), metadata }),
    );
  }
  return added ? Object.freeze(added) : NOTHING;
}

function notRun(
  call: ToolCallPart,
  response: InferenceResponse | undefined,
  choice: ToolChoice | undefined,
): ToolResultPart {
  const why = isAllowed(call, choice) ? whyNotRun(response) : whyNotAllowed(choice);
  return resultPart(call, errorOutput(`Not run: ${why}.`));
}

function whyNotAllowed(choice: ToolChoice | undefined): string {
  return typeof choice === 'object'
    ? `this request allowed calls of "${choice.toolName}" only`
    : 'this request allowed no tool calls. Answer in text';
}

function whyNotRun(response: InferenceResponse | undefined): string {
  if (response === undefined) return 'the execution stopped';
  const { finishReason, rawFinishReason } = response;
  if (finishReason === 'length')
    return 'your answer reached its output limit before the call was complete. Write shorter arguments, or fewer calls at once';
  if (finishReason === 'other') return `the answer ended for the reason "${rawFinishReason ?? 'unknown'}"`;
  return finishReason === 'stop' || finishReason === 'tool-calls' ? 'the execution stopped' : finishReason;
}

/** Returns the started calls that are not in the response, as after a hook replaced the response. */
function startedBeside(
  executions: readonly ToolExecution[],
  requested: readonly ToolCallPart[],
): readonly ToolCallPart[] {
  let found: ToolCallPart[] | undefined;
  for (let place = 0; place < executions.length; place++) {
    const { call, startedAt } = executions[place] as ToolExecution;
    const { toolCallId } = call;
    if (startedAt === undefined || requested[place]?.toolCallId === toolCallId) continue;
    if (!some(requested, (other) => other.toolCallId === toolCallId)) found = pushTo(found, call);
  }
  return found ?? NOTHING;
}
