import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { Usage, type FinishReason } from '@holdfast/core';
import { InferenceResponse, type InferenceDelta } from '@holdfast/core/driver';
import {
  convertContent,
  convertFinishReason,
  convertPartialContent,
  isFinished,
} from './convert-response.ts';
import type { CalledModel } from '../values/called-model.ts';
import { keptOptions } from '../values/provider-options.ts';
import type { HttpFacts } from './http-facts.ts';
import { convertUsage, earlyUsage, hasNumbers, type CallUsage } from './reported-usage.ts';

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
  private readonly provider: string;
  private modelId: string;
  private readonly content: LanguageModelV4Content[] = [];
  private readonly open = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() };
  private readonly deltaIds = new Set<string>();
  /** How often the provider has used an id. */
  private readonly idCounts = new Map<string, number>();
  /** The names of the tools whose arguments arrive as JSON text, by call id. */
  private readonly inputs = new Map<string, string>();
  private finish: Finish | undefined;
  private responseId: string | undefined;
  private readonly facts: HttpFacts;
  /** The usage that the provider reported before the end of the stream. */
  private early: CallUsage | undefined;
  private hasDeltas = false;

  constructor({ provider, modelId }: CalledModel, facts: HttpFacts = {}) {
    this.provider = provider;
    this.modelId = modelId;
    this.facts = facts;
  }

  /** True when the stream reported the finish reason of a complete response. */
  get isFinished(): boolean {
    return isFinished(this.finish?.finishReason) && !this.isCutAfterCall();
  }

  /**
   * True for a response that broke off after a call. The packages of OpenRouter and Ollama report the finish reason
   * `tool-calls` for it: that of OpenRouter without a raw reason and usage, that of Ollama without usage.
   */
  private isCutAfterCall(): boolean {
    if (this.finish?.finishReason?.unified !== 'tool-calls') return false;
    const { finishReason, usage } = this.finish;
    if (this.provider.startsWith('ollama')) return usage.inputTokens.total === undefined;
    if (!this.provider.startsWith('openrouter')) return false;
    return !finishReason.raw && !hasNumbers(convertUsage(usage));
  }

  /**
   * True when a piece of the response has arrived. A retry could then send its deltas to listeners twice. The start of a
   * part is not a piece: some providers announce a part long before its first text.
   */
  get hasContent(): boolean {
    return this.hasDeltas || this.content.some((part) => part.type !== 'text' && part.type !== 'reasoning');
  }

  /** Adds a part, and returns its delta for the listener. Unknown parts change nothing. */
  add(part: LanguageModelV4StreamPart): InferenceDelta | undefined {
    const delta = this.deltaOf(part);
    if (delta !== undefined) this.hasDeltas = true;
    return delta;
  }

  private deltaOf(part: LanguageModelV4StreamPart): InferenceDelta | undefined {
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
      case 'raw':
        this.addEarlyUsage(earlyUsage(part.rawValue));
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

  /** Adds the usage that the provider reported after an error. */
  addUsage({ usage, providerMetadata }: Finish): void {
    const { unreportedCalls, unpricedCalls: _, ...reported } = convertUsage(usage, providerMetadata);
    if (unreportedCalls === 0) this.addEarlyUsage(reported);
  }

  /** The complete response. */
  complete(): InferenceResponse {
    return this.response(convertContent(this.parts()), convertFinishReason(this.finish?.finishReason));
  }

  /** The partial response, without incomplete calls; `undefined` if neither content nor usage has arrived. */
  partial(finishReason: FinishReason): InferenceResponse | undefined {
    const content = convertPartialContent(this.parts());
    const isEmpty = content.length === 0 && !hasNumbers(this.usage());
    return isEmpty ? undefined : this.response(content, finishReason);
  }

  /** The usage of the response, or as much of it as the provider reported before the stream broke off. */
  private usage(): Usage {
    const reported = this.finish
      ? convertUsage(this.finish.usage, this.finish.providerMetadata)
      : Usage.unreported;
    return this.early === undefined || hasNumbers(reported) ? reported : Usage.of(this.early);
  }

  private addEarlyUsage(usage: CallUsage | undefined): void {
    if (usage !== undefined) this.early = { ...this.early, ...usage };
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
      usage: this.usage(),
      providerMetadata: keptOptions(this.finish?.providerMetadata).providerOptions,
      modelId: this.modelId,
      responseId: this.responseId,
      ...this.facts,
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
    let [fresh, count] = [id, this.idCounts.get(id) ?? 1];
    while (this.deltaIds.has(fresh)) fresh = `${id}#${++count}`;
    this.idCounts.set(id, count);
    this.deltaIds.add(fresh);
    return fresh;
  }

  private inputDelta(id: string, text: string): InferenceDelta | undefined {
    const toolName = this.inputs.get(id);
    return toolName === undefined || text === '' ? undefined : { type: 'tool-input', id, toolName, text };
  }
}
