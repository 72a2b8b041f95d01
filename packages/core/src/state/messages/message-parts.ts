import { wrongArgument } from '../../arguments.ts';
import { some } from '../values/frozen-array.ts';
import type { Message, MessagePart, ToolCallPart } from './messages.ts';

/** All text of a message or of its parts, run together. */
export function textOf(content: Message | readonly MessagePart[]): string {
  return joinText(content, 'text');
}

/** All reasoning of a message or of its parts, run together. */
export function reasoningOf(content: Message | readonly MessagePart[]): string {
  return joinText(content, 'reasoning');
}

function joinText(content: Message | readonly MessagePart[], type: 'text' | 'reasoning'): string {
  let text = '';
  for (const part of partsOf(content)) if (part.type === type) text += part.text;
  return text;
}

/** The calls that are ours to run: those of the provider itself are left out. */
export function toolCallsOf(content: Message | readonly MessagePart[]): readonly ToolCallPart[] {
  const calls: ToolCallPart[] = [];
  for (const part of partsOf(content)) if (isOwnToolCall(part)) calls.push(part);
  return calls;
}

/** Does the content ask for tools that are ours to run? */
export function hasToolCalls(content: Message | readonly MessagePart[]): boolean {
  return some(partsOf(content), isOwnToolCall);
}

function isOwnToolCall(part: MessagePart): part is ToolCallPart {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}

function partsOf(content: Message | readonly MessagePart[]): readonly MessagePart[] {
  if (Array.isArray(content)) return content;
  if (typeof content === 'object' && content !== null && 'role' in content) return content.content;
  throw wrongArgument(content, 'a message, or an array of its parts');
}
