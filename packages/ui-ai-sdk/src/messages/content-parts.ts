import type { AssistantPart, CustomPart, SourcePart, ToolResultPart } from '@holdfast/core/driver';
import type { FilePart, ToolCallPart, UserPart } from '@holdfast/core';
import { fileUrl } from './file-url.ts';
import { providerMember, providerMetadataOf } from './provider-metadata.ts';
import { recordResult, resultState, toolPart, type ToolPartState } from './tool-part.ts';
import type { PartOptions, UIPart } from './ui-part.ts';

/** How the parts of one step are shown. */
export interface StepOptions extends PartOptions {
  readonly stepId: string;
  /** Returns the state of a call that the loop runs. */
  readonly stateOf: (call: ToolCallPart) => ToolPartState;
}

const STEP_START: UIPart = Object.freeze({ type: 'step-start' });

/** Adds a step at the end of a UI message: its start, and the parts that a function adds. A step without parts is omitted. */
export function addStep(parts: UIPart[], addParts: () => void): void {
  parts.push(STEP_START);
  const { length } = parts;
  addParts();
  if (parts.length === length) parts.pop();
}

/** Adds the content of an assistant message at the end of a UI message. Empty texts are omitted. */
export function addContent(parts: UIPart[], content: readonly AssistantPart[], options: StepOptions): void {
  for (const part of content) {
    if (part.type === 'tool-result') addResult(parts, part, options);
    else {
      const shown = shownPart(part, parts.length, options);
      if (shown) parts.push(Object.freeze(shown));
    }
  }
}

type PartWithoutResult = Exclude<AssistantPart, ToolResultPart>;

/** Returns the part at an index of a UI message; `undefined` for an empty text. */
function shownPart(part: PartWithoutResult, index: number, options: StepOptions): UIPart | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : { ...doneText(part.text), ...providerMember(part, options) };
    case 'reasoning': {
      const id = reasoningId(index);
      if (part.text === '') return undefined;
      return { type: 'reasoning', id, text: part.text, state: 'done', ...providerMember(part, options) };
    }
    case 'file':
    case 'reasoning-file': {
      const { type, mediaType, data } = part;
      return { type, mediaType, url: fileUrl(mediaType, data), ...providerMember(part, options) };
    }
    case 'tool-call':
      return toolPart(part, part.providerExecuted ? requested(part) : options.stateOf(part), options);
    case 'source':
      return { ...shownSource(part), ...providerMember(part, options) };
    case 'custom':
      return shownCustom(part);
  }
}

function doneText(text: string): { type: 'text'; text: string; state: 'done' } {
  return { type: 'text', text, state: 'done' };
}

/** Returns the id of a reasoning part: its index in the UI message. The chunks of the part have the same id. */
export function reasoningId(index: number): string {
  return String(index);
}

function requested({ input }: ToolCallPart): ToolPartState {
  return { state: 'input-available', input };
}

/** Adds the result of a call that the provider ran. A result without its call is a part of its own. */
function addResult(parts: UIPart[], result: ToolResultPart, options: StepOptions): void {
  const { stepId } = options;
  if (recordResult(parts, result, stepId, options)) return;
  const { toolCallId, toolName } = result;
  const call = { toolCallId, toolName, providerExecuted: true };
  parts.push(toolPart(call, resultState(undefined, result, stepId), options));
}

function shownSource({ source }: SourcePart): UIPart {
  const { sourceType, id, url, title, mediaType, filename } = source;
  const sourceId = textOr(id, '');
  if (sourceType === 'url')
    return { type: 'source-url', sourceId, url: textOr(url, ''), ...textMember('title', title) };
  return {
    type: 'source-document',
    sourceId,
    mediaType: textOr(mediaType, 'application/octet-stream'),
    title: textOr(title, ''),
    ...textMember('filename', filename),
  };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function textMember<Name extends string>(name: Name, value: unknown): { [N in Name]?: string } {
  return typeof value === 'string' ? ({ [name]: value } as { [N in Name]: string }) : {};
}

/** Returns a custom part. Its content is the data of its provider, which it has in any case. */
function shownCustom(part: CustomPart): UIPart {
  const providerMetadata = providerMetadataOf(part);
  const kind = isCustomKind(part.kind) ? part.kind : (`custom.${part.kind}` as const);
  return { type: 'custom', kind, ...(providerMetadata && { providerMetadata }) };
}

function isCustomKind(kind: string): kind is `${string}.${string}` {
  return kind.includes('.');
}

type ShownUserPart = Extract<UIPart, { readonly type: 'text' | 'file' }>;

/** Returns the parts of a user message. */
export function userParts(content: readonly UserPart[], options: PartOptions): ShownUserPart[] {
  return content.map((part) =>
    Object.freeze({
      ...(part.type === 'text' ? { type: part.type, text: part.text } : shownFile(part)),
      ...providerMember(part, options),
    }),
  );
}

function shownFile({ type, mediaType, data, filename }: FilePart): ShownUserPart {
  return {
    type,
    mediaType,
    url: fileUrl(mediaType, data),
    ...(filename !== undefined && { filename }),
    ...(data.type === 'reference' && { providerReference: data.reference }),
  };
}
