import type { JsonObject, JsonValue } from '../../json.ts';
import type { AgentId, ExecutionId, StepId } from '../values/ids.ts';
import type { Message } from './messages.ts';
import { assembleMessage, TAG_NAMES } from './messages.ts';

/** Where a message came from, as it stands in the metadata of every message that a step adds. */
export interface MessageTags {
  readonly step_id: StepId;
  readonly execution_id: ExecutionId;
  readonly agent_id: AgentId;
  /** The message is work on the way to an answer, not the answer. */
  readonly is_trace?: true;
}

/** Tags as the metadata of a message that has nothing else in it. */
export function metadataOf(tags: MessageTags): JsonObject {
  return Object.freeze<JsonObject & MessageTags>({ ...tags });
}

/** A copy for the conversation that says which step made it; the tags are taken over. */
export function withTags(message: Message, tags: MessageTags): Message {
  const { id, role, createdAt, content, providerOptions, metadata: own } = message;
  const metadata = (own === undefined ? tags : { ...own, ...tags }) as JsonObject & MessageTags;
  return assembleMessage(role, {
    id,
    createdAt,
    content,
    providerOptions,
    metadata: Object.freeze(metadata),
  });
}

/** The message as the step made it; itself when it has no tags. */
export function withoutTags(message: Message): Message {
  if (!hasTags(message)) return message;
  const { id, role, content, createdAt, providerOptions } = message;
  let metadata: Record<string, JsonValue> | undefined;
  for (const [name, value] of Object.entries(message.metadata ?? {})) {
    if (!TAG_NAMES.has(name)) metadata = { ...metadata, [name]: value };
  }
  const kept = metadata && Object.freeze(metadata);
  return assembleMessage(role, { id, content, createdAt, providerOptions, metadata: kept });
}

/** The execution that added the message; `undefined` when no step did. */
export function executionIdOf(message: Message): string | undefined {
  const id = message.metadata?.['execution_id'];
  return typeof id === 'string' ? id : undefined;
}

/** True for a message on the way to an answer: a tool call, a tool result, a failed attempt. */
export function isTrace(message: Message): boolean {
  return message.metadata?.['is_trace'] === true;
}

function hasTags(message: Message): boolean {
  for (const name in message.metadata) if (TAG_NAMES.has(name)) return true;
  return false;
}
