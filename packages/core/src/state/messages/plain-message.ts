import { isInstant } from '../../document.ts';
import { isPlainObject, tryFreezeJson } from '../../json.ts';
import { MessageId } from '../values/ids.ts';

// These functions check common messages of a document in one pass, without a path for errors. `false` means only that
// the readers must check the message: they read rare messages, and report invalid ones.

type Members = Readonly<Record<string, unknown>>;

/** Freezes a common message of an assistant or of tools in place. Returns false for any other message. */
export function tryFreezeMessage(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { id, role, content, createdAt, metadata } = value;
  const isPart =
    role === 'assistant' ? tryFreezeAssistantPart : role === 'tool' ? tryFreezeToolResult : undefined;
  if (isPart === undefined || !MessageId.is(id)) return false;
  if (createdAt !== undefined && !isInstant(createdAt)) return false;
  if (metadata !== undefined && !(isNonEmptyObject(metadata) && tryFreezeJson(metadata))) return false;
  const count = 3 + (createdAt === undefined ? 0 : 1) + (metadata === undefined ? 0 : 1);
  if (!hasCount(value, count) || !tryFreezeList(content, isPart)) return false;
  Object.freeze(value);
  return true;
}

/** Freezes the content of an assistant message in place. Returns false when it has other parts than texts and calls. */
export function tryFreezeAssistantContent(content: unknown): boolean {
  return tryFreezeList(content, tryFreezeAssistantPart);
}

function tryFreezeList(list: unknown, takesOverOne: (value: unknown) => boolean): boolean {
  if (!Array.isArray(list)) return false;
  for (let index = 0; index < list.length; index++) if (!takesOverOne(list[index])) return false;
  Object.freeze(list);
  return true;
}

function tryFreezeAssistantPart(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  if (value['type'] === 'tool-call') return tryFreezeToolCall(value);
  if (value['type'] !== 'text' || typeof value['text'] !== 'string' || !hasCount(value, 2)) return false;
  Object.freeze(value);
  return true;
}

function tryFreezeToolCall(call: Members): boolean {
  if (!hasNames(call) || !hasCount(call, 4) || !tryFreezeJson(call['input'])) return false;
  Object.freeze(call);
  return true;
}

function tryFreezeToolResult(value: unknown): boolean {
  if (!isPlainObject(value) || value['type'] !== 'tool-result' || !hasNames(value)) return false;
  const { output } = value;
  if (!hasCount(value, 4) || !isPlainObject(output) || !hasCount(output, 2)) return false;
  const isText = output['type'] === 'text' && typeof output['value'] === 'string';
  if (!isText && !(output['type'] === 'json' && tryFreezeJson(output['value']))) return false;
  Object.freeze(output);
  Object.freeze(value);
  return true;
}

function hasNames({ toolCallId, toolName }: Members): boolean {
  return typeof toolCallId === 'string' && typeof toolName === 'string';
}

function hasCount(value: Members, count: number): boolean {
  let found = 0;
  for (const _ in value) found++;
  return found === count;
}

function isNonEmptyObject(value: unknown): boolean {
  return isPlainObject(value) && !hasCount(value, 0);
}
