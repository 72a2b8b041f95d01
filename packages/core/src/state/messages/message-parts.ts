import { wrongArgument } from '../../arguments.ts';
import { NOTHING, pushTo, some } from '../values/frozen-array.ts';
import { isHandledByLoop } from './call-marks.ts';
import type { Message, MessagePart, ToolCallPart } from './messages.ts';

/** Returns the text of a message or of parts, concatenated. */
export function textOf(content: Message | readonly MessagePart[]): string {
  return joinText(content, 'text');
}

/** Returns the reasoning of a message or of parts, concatenated. */
export function reasoningOf(content: Message | readonly MessagePart[]): string {
  return joinText(content, 'reasoning');
}

function joinText(content: Message | readonly MessagePart[], type: 'text' | 'reasoning'): string {
  let text = '';
  for (const part of partsOf(content)) if (part.type === type) text += part.text;
  return text;
}

/**
 * Returns the tool calls that the loop handles. Calls that the provider runs are omitted, unless they wait for the
 * approval of a person.
 */
export function toolCallsOf(content: Message | readonly MessagePart[]): readonly ToolCallPart[] {
  let calls: ToolCallPart[] | undefined;
  for (const part of partsOf(content)) if (isOwnToolCall(part)) calls = pushTo(calls, part);
  return calls ?? NOTHING;
}

/** True when the content has a tool call that the loop handles. */
export function hasToolCalls(content: Message | readonly MessagePart[]): boolean {
  return some(partsOf(content), isOwnToolCall);
}

function isOwnToolCall(part: MessagePart): part is ToolCallPart {
  return part.type === 'tool-call' && isHandledByLoop(part);
}

function partsOf(content: Message | readonly MessagePart[]): readonly MessagePart[] {
  if (Array.isArray(content)) return content;
  if (typeof content === 'object' && content !== null && 'role' in content) return content.content;
  throw wrongArgument(content, 'a message, or an array of its parts');
}

/** True when the content has the result of a call, as of one that the provider ran within the response. */
export function hasResult(content: readonly MessagePart[], toolCallId: string): boolean {
  return content.some((part) => part.type === 'tool-result' && part.toolCallId === toolCallId);
}

/** True for reasoning, as text or as a file. */
export function isReasoning({ type }: MessagePart): boolean {
  return type === 'reasoning' || type === 'reasoning-file';
}
