import type { AssistantPart, ToolResultPart } from '../../state/messages/messages.ts';

/** The content of a response. */
export type Content = readonly AssistantPart[];

/**
 * True when a response and the results right after it need no repair, which is the usual case: texts, and calls that
 * the loop runs, with ids that no earlier message has, each with its result.
 */
export function isPlainExchange(
  content: Content,
  results: readonly ToolResultPart[] | undefined,
  known: { has(toolCallId: string): boolean },
): boolean {
  if (content.length === 0) return false;
  let calls = 0;
  for (let index = 0; index < content.length; index++) {
    const part = content[index] as AssistantPart;
    if (part.type === 'text' && part.text !== '') continue;
    if (part.type !== 'tool-call' || part.providerExecuted === true) return false;
    const { toolCallId } = part;
    if (results?.[calls++]?.toolCallId !== toolCallId || known.has(toolCallId)) return false;
  }
  if (results === undefined) return calls === 0;
  if (calls !== results.length || calls === 0) return false;
  return calls === 1 || new Set(results.map(({ toolCallId }) => toolCallId)).size === calls;
}

/** True when the provider returned the result of the call within this response. */
export function hasResult(content: Content, toolCallId: string): boolean {
  return content.some((part) => part.type === 'tool-result' && part.toolCallId === toolCallId);
}

/** The parts that stay, without reasoning that led only to removed parts: up to the next reasoning, or the end. */
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

/** True when the part has content that a model receives. */
export function saysSomething(part: AssistantPart): boolean {
  if (part.type === 'text') return part.text !== '' || part.providerOptions !== undefined;
  return part.type !== 'source';
}
