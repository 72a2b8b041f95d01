import type { JsonObject, JsonValue } from '../../json.ts';
import type { AgentId, ExecutionId, StepId } from '../values/ids.ts';
import { assembleMessage, TAG_NAMES, type Message, type UserMessage } from './messages.ts';

/**
 * The origin of a message. A step adds these tags to the metadata of every message that it adds to the conversation. A
 * user message that an action or the inbox adds to a session has `execution_id`, and `step_id` if it was added while a
 * step was open.
 */
export interface MessageTags {
  readonly step_id: StepId;
  readonly execution_id: ExecutionId;
  readonly agent_id: AgentId;
  /** The message led to a final response, and is not the final response itself. */
  readonly is_trace?: true;
}

/** The section that holds the summary of a conversation. */
export const SUMMARY = 'summary';

/** The metadata key of a summary, with the id of the last message that it stands for. */
export const SUMMARIZED_THROUGH = 'summarized_through';

/** Freezes tags and returns them as the metadata of a message without other metadata. */
export function metadataOf(tags: MessageTags): JsonObject {
  return Object.freeze(tags as JsonObject & MessageTags);
}

/**
 * Returns a copy of a user message with the tag of the execution that responds to it. `stepId` names the step that is open:
 * the message will stand before the messages of this step, although it was added after the step began.
 */
export function withExecutionTag(
  message: UserMessage,
  executionId: ExecutionId,
  stepId: StepId | undefined,
): Message {
  const step = stepId === undefined ? {} : { step_id: stepId };
  return withMetadata(message, { ...message.metadata, ...step, execution_id: executionId });
}

/** Returns a copy of a message with the tags of its step. */
export function withTags(message: Message, tags: MessageTags): Message {
  const { metadata: own } = message;
  return withMetadata(message, (own === undefined ? tags : { ...own, ...tags }) as JsonObject & MessageTags);
}

function withMetadata(
  { id, role, createdAt, content, providerOptions }: Message,
  metadata: JsonObject | undefined,
): Message {
  return assembleMessage(role, {
    id,
    createdAt,
    content,
    providerOptions,
    metadata: Object.freeze(metadata),
  });
}

/** Returns the message without tags; the message itself when it has none. */
export function withoutTags(message: Message): Message {
  if (!hasTags(message)) return message;
  let metadata: Record<string, JsonValue> | undefined;
  for (const [name, value] of Object.entries(message.metadata ?? {})) {
    if (!TAG_NAMES.has(name)) metadata = { ...metadata, [name]: value };
  }
  return withMetadata(message, metadata);
}

/**
 * Returns the id of the execution that the message belongs to: the execution that added it, or that responds to the
 * user message. `undefined` for a message without the tag: the application added it, or an earlier release stored it.
 */
export function executionIdOf(message: Message): string | undefined {
  const id = message.metadata?.['execution_id'];
  return typeof id === 'string' ? id : undefined;
}

/** True for a trace: a message that led to a final response without being the final response, such as a tool call or a tool result. */
export function isTrace(message: Message): boolean {
  return message.metadata?.['is_trace'] === true;
}

function hasTags(message: Message): boolean {
  for (const name in message.metadata) if (TAG_NAMES.has(name)) return true;
  return false;
}
