import type { AssistantPart, ToolCallPart } from '../state/messages.ts';

/** What a model said. */
export type Content = readonly AssistantPart[];

/** Does a call of the same id stand before this one? */
export function isCalledBefore(content: Content, call: ToolCallPart): boolean {
  for (const part of content) {
    if (part === call) return false;
    if (part.type === 'tool-call' && part.toolCallId === call.toolCallId) return true;
  }
  return false;
}

/** Has the provider answered the call within this answer? */
export function hasResult(content: Content, toolCallId: string): boolean {
  return content.some((part) => part.type === 'tool-result' && part.toolCallId === toolCallId);
}

/** The parts that stay, without reasoning that led to nothing that stays: up to the next reasoning, or the end. */
export function withoutLooseReasoning(content: Content, stays: readonly boolean[]): Content {
  const kept: AssistantPart[] = [];
  let [leadsToSomething, isInReasoning] = [false, false];
  for (let index = content.length - 1; index >= 0; index--) {
    const part = content[index] as AssistantPart;
    const isReasoning = part.type === 'reasoning' || part.type === 'reasoning-file';
    if (isInReasoning && !isReasoning) leadsToSomething = false;
    isInReasoning = isReasoning;
    if (isReasoning ? !leadsToSomething : !stays[index]) continue;
    leadsToSomething ||= saysSomething(part);
    kept.push(part);
  }
  return kept.length === content.length ? content : Object.freeze(kept.toReversed());
}

/** Is there anything in the part that a model is sent? */
export function saysSomething(part: AssistantPart): boolean {
  if (part.type === 'text') return part.text !== '' || part.providerOptions !== undefined;
  return part.type !== 'source';
}
