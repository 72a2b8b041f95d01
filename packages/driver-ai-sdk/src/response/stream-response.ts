import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { FinishReason } from '@holdfast/core';
import type { InferenceDelta } from '@holdfast/core/driver';
import { Usage } from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import {
  convertContent,
  convertFinishReason,
  convertPartialContent,
  convertUsage,
  isFinished,
} from './convert-response.ts';
import { keptOptions } from '../provider-options.ts';

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;
type TextDelta = Extract<LanguageModelV4StreamPart, { type: 'text-delta' | 'reasoning-delta' }>;
type Kind = 'text' | 'reasoning';

/**
 * A text or reasoning part that can still grow. The deltas are joined in pieces of 16 KB: an engine that concatenates
 * strings by reference keeps each delta as an object of its own, which takes four times the memory of the text.
 */
class Block {
  readonly deltaId: string;
  readonly part: { type: Kind; text: string; providerMetadata?: SharedV4ProviderMetadata };
  private deltas: string[] = [];
  private length = 0;

  constructor(deltaId: string, type: Kind) {
    this.deltaId = deltaId;
    this.part = { type, text: '' };
  }

  add(delta: string): void {
    this.deltas.push(delta);
    this.length += delta.length;
    if (this.length > 16_384) this.join();
  }

  /** Adds the deltas to the text of the part. */
  join(): void {
    if (this.length > 0) this.part.text += this.deltas.join('');
    this.deltas = [];
    this.length = 0;
  }
}

/** Builds a response from the parts of its stream. */
export class StreamedResponse {
  private modelId: string;
  private readonly content: LanguageModelV4Content[] = [];
  private readonly open = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() };
  private readonly deltaIds = new Set<string>();
  /** The names of the tools whose arguments arrive as JSON text, by call id. */
  private readonly inputs = new Map<string, string>();
  private finish: Finish | undefined;
  private responseId: string | undefined;

  constructor(modelId: string) {
    this.modelId = modelId;
  }

  /** True when the stream reported the finish reason of a complete response. */
  get isFinished(): boolean {
    return isFinished(this.finish?.finishReason);
  }

  /** True when a part of the response has arrived. A retry could then send its deltas to listeners twice. */
  get hasContent(): boolean {
    return this.content.length > 0 || this.inputs.size > 0;
  }

  /** Adds a part, and returns its delta for the listener. Unknown parts change nothing. */
  add(part: LanguageModelV4StreamPart): InferenceDelta | undefined {
    switch (part.type) {
      case 'text-delta':
        return this.grow('text', part);
      case 'reasoning-delta':
        return this.grow('reasoning', part);
      case 'text-start':
      case 'text-end':
        return this.mark('text', part, part.type === 'text-end');
      case 'reasoning-start':
      case 'reasoning-end':
        return this.mark('reasoning', part, part.type === 'reasoning-end');
      case 'tool-input-start':
        if (part.inputEncoding !== 'text') this.inputs.set(part.id, part.toolName);
        return undefined;
      case 'tool-input-delta':
        return this.inputDelta(part.id, part.delta);
      case 'response-metadata':
        this.responseId = part.id ?? this.responseId;
        this.modelId = part.modelId ?? this.modelId;
        return undefined;
      case 'finish':
        this.finish = part;
        return undefined;
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
      case 'custom':
      case 'file':
      case 'reasoning-file':
      case 'source':
        this.content.push(part);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The complete response. */
  complete(): InferenceResponse {
    return this.response(convertContent(this.parts()), convertFinishReason(this.finish?.finishReason));
  }

  /** The partial response, without incomplete calls; `undefined` if no usable content has arrived. */
  partial(finishReason: FinishReason): InferenceResponse | undefined {
    const content = convertPartialContent(this.parts());
    return content.length === 0 ? undefined : this.response(content, finishReason);
  }

  /** The parts with all text that has arrived. */
  private parts(): readonly LanguageModelV4Content[] {
    for (const blocks of Object.values(this.open)) for (const block of blocks.values()) block.join();
    return this.content;
  }

  private response(content: InferenceResponse['content'], finishReason: FinishReason): InferenceResponse {
    return InferenceResponse.of({
      content,
      finishReason,
      rawFinishReason: this.finish?.finishReason?.raw,
      usage: this.finish ? convertUsage(this.finish.usage) : Usage.unreported,
      providerMetadata: keptOptions(this.finish?.providerMetadata).providerOptions,
      modelId: this.modelId,
      responseId: this.responseId,
    });
  }

  private grow(kind: Kind, { id, delta, providerMetadata }: TextDelta): InferenceDelta | undefined {
    const block = this.block(kind, id);
    block.add(delta);
    if (providerMetadata) block.part.providerMetadata = providerMetadata;
    return delta === '' ? undefined : { type: kind, id: block.deltaId, text: delta };
  }

  /** Processes the start or the end of a block, which can carry metadata of the provider. */
  private mark(
    kind: Kind,
    { id, providerMetadata }: { readonly id: string; readonly providerMetadata?: SharedV4ProviderMetadata },
    isEnd: boolean,
  ): undefined {
    const block = this.block(kind, id);
    if (providerMetadata) block.part.providerMetadata = providerMetadata;
    if (!isEnd) return;
    block.join();
    this.open[kind].delete(id);
  }

  private block(kind: Kind, id: string): Block {
    const known = this.open[kind].get(id);
    if (known) return known;
    const block = new Block(this.freshDeltaId(id), kind);
    this.open[kind].set(id, block);
    this.content.push(block.part);
    return block;
  }

  /** Returns a unique id. Some providers reuse an id for the next part, and listeners must distinguish the parts. */
  private freshDeltaId(id: string): string {
    let fresh = id;
    for (let count = 2; this.deltaIds.has(fresh); count++) fresh = `${id}#${count}`;
    this.deltaIds.add(fresh);
    return fresh;
  }

  private inputDelta(id: string, text: string): InferenceDelta | undefined {
    const toolName = this.inputs.get(id);
    return toolName === undefined || text === '' ? undefined : { type: 'tool-input', id, toolName, text };
  }
}
