import type { JsonValue } from '../json.ts';
import type { AgentId, ExecutionId, StepId } from './ids.ts';
import type { Message } from './messages.ts';
import { messageOf, withMessageMetadata } from './messages.ts';

/** Where a message came from, as it stands in the metadata of every message that a step adds. */
export interface MessageTags {
  readonly step_id: StepId;
  readonly execution_id: ExecutionId;
  readonly agent_id: AgentId;
  /** The message is work on the way to an answer, not the answer. */
  readonly is_trace?: true;
}

const TAG_NAMES: ReadonlySet<string> = new Set(['step_id', 'execution_id', 'agent_id', 'is_trace']);

/** From the message of a step to its tagged copy in the store, so that a snapshot can keep one of the two. */
const taggedCopies = new WeakMap<Message, Message>();

/** A copy for the conversation that says which step made it. */
export function tagMessage(message: Message, tags: MessageTags): Message {
  const known = taggedCopies.get(message);
  if (known && hasJustTags(known, tags)) return known;
  const copy = withMessageMetadata(message, tags as MessageTags & Record<string, string | true>);
  if (!hasTags(message)) taggedCopies.set(message, copy);
  return copy;
}

/** The tagged copy of a step's message, if it was made here. @internal */
export function taggedCopyOf(message: Message): Message | undefined {
  return taggedCopies.get(message);
}

/** The message of a step, from its tagged copy. @internal */
export function untagMessage(copy: Message): Message {
  let metadata: Record<string, JsonValue> | undefined;
  for (const [name, value] of Object.entries(copy.metadata ?? {})) {
    if (!TAG_NAMES.has(name)) metadata = { ...metadata, [name]: value };
  }
  const message = messageOf(copy.role, { ...copy, metadata: metadata && Object.freeze(metadata) });
  taggedCopies.set(message, copy);
  return message;
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

function hasJustTags({ metadata }: Message, tags: MessageTags): boolean {
  for (const name of TAG_NAMES) if (metadata?.[name] !== tags[name as keyof MessageTags]) return false;
  return true;
}

function hasTags(message: Message): boolean {
  for (const name in message.metadata) if (TAG_NAMES.has(name)) return true;
  return false;
}
