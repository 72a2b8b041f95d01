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
import { keptOptions } from './provider-options.ts';

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;
type TextDelta = Extract<LanguageModelV4StreamPart, { type: 'text-delta' | 'reasoning-delta' }>;
type Kind = 'text' | 'reasoning';

/** A text or reasoning part that may still grow. */
interface Block {
  readonly deltaId: string;
  readonly part: { type: Kind; text: string; providerMetadata?: SharedV4ProviderMetadata };
}

/** Puts an answer together from the parts of its stream. */
export class StreamedResponse {
  private modelId: string;
  private readonly content: LanguageModelV4Content[] = [];
  private readonly open = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() };
  private readonly deltaIds = new Set<string>();
  /** Names of the tools whose arguments are arriving as JSON text, by call. */
  private readonly inputs = new Map<string, string>();
  private finish: Finish | undefined;
  private responseId: string | undefined;

  constructor(modelId: string) {
    this.modelId = modelId;
  }

  /** True when the model said that it is done, and why. */
  get isFinished(): boolean {
    return isFinished(this.finish?.finishReason);
  }

  /** True when a part of the answer has come: to ask again could make listeners hear it twice. */
  get hasContent(): boolean {
    return this.content.length > 0 || this.inputs.size > 0;
  }

  /** Takes in a part and returns what a listener is to be told. Parts that are not known change nothing. */
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

  /** The whole answer. */
  complete(): InferenceResponse {
    return this.response(convertContent(this.content), convertFinishReason(this.finish?.finishReason));
  }

  /** What had arrived, or `undefined` if nothing had. Incomplete calls are left out. */
  partial(finishReason: FinishReason): InferenceResponse | undefined {
    const content = convertPartialContent(this.content);
    return content.length === 0 ? undefined : this.response(content, finishReason);
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
    block.part.text += delta;
    if (providerMetadata) block.part.providerMetadata = providerMetadata;
    return delta === '' ? undefined : { type: kind, id: block.deltaId, text: delta };
  }

  /** The beginning or the end of a block: each may carry what the provider wants back. */
  private mark(
    kind: Kind,
    { id, providerMetadata }: { readonly id: string; readonly providerMetadata?: SharedV4ProviderMetadata },
    isEnd: boolean,
  ): undefined {
    const { part } = this.block(kind, id);
    if (providerMetadata) part.providerMetadata = providerMetadata;
    if (isEnd) this.open[kind].delete(id);
  }

  private block(kind: Kind, id: string): Block {
    const known = this.open[kind].get(id);
    if (known) return known;
    const block: Block = { deltaId: this.freshDeltaId(id), part: { type: kind, text: '' } };
    this.open[kind].set(id, block);
    this.content.push(block.part);
    return block;
  }

  /** Some providers use an id again for the next part; listeners must be able to tell the two apart. */
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
