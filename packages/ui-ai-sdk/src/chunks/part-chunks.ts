import type { UIMessageChunk } from 'ai';
import { isToolPart, type UIPart } from '../messages/ui-part.ts';
import { grownCallChunks } from './grown-call.ts';
import { isSameValue } from '../json/is-same-value.ts';
import { toolPartChunks } from './tool-chunks.ts';

type TextPart = Extract<UIPart, { readonly type: 'text' | 'reasoning' }>;

/** Returns the chunks that add a part at an index of a message. */
export function partChunks(part: UIPart, index: number): readonly UIMessageChunk[] {
  if (isToolPart(part)) return toolPartChunks(part);
  if (isText(part)) return textChunks(part, textId(part, index));
  return [part.type === 'step-start' ? { type: 'start-step' } : part];
}

/** Returns the chunks that change a part in place; `undefined` when none can. */
export function grownPartChunks(
  shown: UIPart,
  wanted: UIPart,
  index: number,
): readonly UIMessageChunk[] | undefined {
  if (isText(shown) && isText(wanted)) return grownTextChunks(shown, wanted, index);
  if (isToolPart(shown) && isToolPart(wanted)) return grownCallChunks(shown, wanted);
  return undefined;
}

/** True when a page shows both parts in the same way. The input of a call that arrives is its `rawInput`. */
export function isSamePart(one: UIPart, other: UIPart): boolean {
  return one === other || isSameValue(withoutParsedInput(one), withoutParsedInput(other));
}

function withoutParsedInput(part: UIPart): object {
  if (!isToolPart(part) || part.state !== 'input-streaming') return part;
  const { input: _, ...rest } = part;
  return rest;
}

/** True for text or reasoning. */
export function isText(part: UIPart): part is TextPart {
  return part.type === 'text' || part.type === 'reasoning';
}

/** Returns the id that the chunks of a text have. The page has no other name for it after its end. */
function textId(part: TextPart, index: number): string {
  return part.type === 'reasoning' && part.id !== undefined ? part.id : String(index);
}

function textChunks(part: TextPart, id: string): readonly UIMessageChunk[] {
  const { type, text, providerMetadata } = part;
  const start: UIMessageChunk = { type: `${type}-start`, id, ...(providerMetadata && { providerMetadata }) };
  return [start, ...deltaChunks(part, id, text), ...endChunks(part, id)];
}

function deltaChunks({ type }: TextPart, id: string, delta: string): readonly UIMessageChunk[] {
  return delta === '' ? [] : [{ type: `${type}-delta`, id, delta }];
}

function endChunks({ type, state, providerMetadata }: TextPart, id: string): readonly UIMessageChunk[] {
  if (state === 'streaming') return [];
  return [{ type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) }];
}

function grownTextChunks(
  shown: TextPart,
  wanted: TextPart,
  index: number,
): readonly UIMessageChunk[] | undefined {
  const id = textId(shown, index);
  const isSame = shown.type === wanted.type && id === textId(wanted, index);
  const isOpen = shown.state === 'streaming' && wanted.text.startsWith(shown.text);
  if (!isSame || !isOpen || !canHaveMetadata(shown, wanted)) return undefined;
  const added = wanted.text.slice(shown.text.length);
  return [...deltaChunks(wanted, id, added), ...endChunks(wanted, id)];
}

/** True when the end of a text can bring the metadata that it should have. */
function canHaveMetadata(shown: TextPart, wanted: TextPart): boolean {
  if (isSameValue(shown.providerMetadata, wanted.providerMetadata)) return true;
  return wanted.state !== 'streaming' && wanted.providerMetadata !== undefined;
}
