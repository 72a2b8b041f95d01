import { isPlainObject, toJsonValue } from '../../json.ts';
import type { AssistantPart } from './messages.ts';

const TEXT_NAMES = ['type', 'text'];
const CALL_NAMES = ['type', 'toolCallId', 'toolName', 'input'];

/**
 * Returns frozen copies of the parts of a common response: texts and calls without optional members. Returns
 * `undefined` for any other content, which a reader must check.
 * @throws HoldfastError `NOT_JSON` for call arguments that JSON cannot hold.
 */
export function plainContent(content: unknown): readonly AssistantPart[] | undefined {
  if (!Array.isArray(content)) return undefined;
  const parts: AssistantPart[] = [];
  for (let index = 0; index < content.length; index++) {
    const part = plainPart(content[index]);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return Object.freeze(parts);
}

function plainPart(value: unknown): AssistantPart | undefined {
  if (!isPlainObject(value)) return undefined;
  const { type, text, toolCallId, toolName, input } = value;
  if (type === 'text') {
    const isPlain = typeof text === 'string' && hasExactMembers(value, TEXT_NAMES);
    return isPlain ? Object.freeze({ type, text }) : undefined;
  }
  const isCall = type === 'tool-call' && typeof toolCallId === 'string' && typeof toolName === 'string';
  if (!isCall || input === undefined || !hasExactMembers(value, CALL_NAMES)) return undefined;
  return Object.freeze({ type, toolCallId, toolName, input: toJsonValue(input) });
}

/** True when the object has exactly these members in this order. */
function hasExactMembers(value: object, names: readonly string[]): boolean {
  let count = 0;
  for (const name in value) if (name !== names[count++]) return false;
  return count === names.length;
}
