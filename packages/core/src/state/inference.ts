import { describeValue, HoldfastError, invalidArgument, StateFormatError } from '../errors.ts';
import type { JsonObject, Members, Read } from '../json.ts';
import {
  checked,
  compact,
  DocumentReader,
  readAmount,
  readCount,
  readFilled,
  readFrozenList,
  readJsonObject,
  readNumber,
  readOneOf,
  readShape,
  readString,
  shapeOf,
  toJsonObject,
  toJsonValue,
} from '../json.ts';
import type { AssistantPart, ProviderOptions, ToolCallPart } from './messages.ts';
import { hasToolCalls, readAssistantContent, reasoningOf, textOf, toolCallsOf } from './messages.ts';

/** Why a model stopped. `aborted`: we stopped it; what had arrived is kept. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  | 'error'
  | 'aborted'
  | 'other';

const FINISH_REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'aborted',
  'other',
];

/** Which model to call and how: a JSON value. Secrets and live objects belong to the driver, never here. */
export interface LlmConfig {
  /** The id by which the driver finds the model, as in `openai:gpt-5`. */
  readonly model?: string;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /** How hard a reasoning model thinks, as the driver understands it (`low`, `medium`, `high`, …). */
  readonly reasoning?: string;
  /** Settings for one provider, by provider name. */
  readonly providerOptions?: ProviderOptions;
}

const readStrings = readFrozenList(readString);

const LLM_CONFIG: { readonly [K in keyof Required<LlmConfig>]: Read<LlmConfig[K]> } = {
  model: readString,
  maxOutputTokens: readCount,
  temperature: readNumber,
  topP: readNumber,
  topK: readNumber,
  presencePenalty: readNumber,
  frequencyPenalty: readNumber,
  stopSequences: readStrings,
  seed: readNumber,
  reasoning: readString,
  providerOptions: readJsonObject,
};

/** Reads a configuration. @internal */
export const readLlmConfig: Read<LlmConfig> = readRecord<LlmConfig>(LLM_CONFIG);

/** The form an answer must have. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | {
      readonly type: 'json';
      /** JSON Schema of the answer; any JSON when absent. */
      readonly schema?: JsonObject;
      readonly name?: string;
      readonly description?: string;
    };

const RESPONSE_FORMAT = {
  type: readOneOf(['text', 'json']),
  schema: readJsonObject,
  name: readString,
  description: readString,
};

/** Reads a response format. @internal */
export const readResponseFormat: Read<ResponseFormat> = (reader, value) => {
  const format = readRecord<{ readonly type?: 'text' | 'json' }>(RESPONSE_FORMAT)(reader, value);
  return format.type === undefined ? reader.fail('a "type" of "text" or "json"', value) : format;
};

/** Reads a record whose members are all optional. Equal records come out with their members in the same order. */
function readRecord<T extends object>(readers: { readonly [K in keyof T]-?: Read<unknown> }): Read<T> {
  const entries = Object.entries<Read<unknown>>(readers);
  const names = new Set(Object.keys(readers));
  return (reader, value) => {
    const members = reader.members(value, names);
    const read = entries.map(([name, readMember]) => [name, reader.optional(members, name, readMember)]);
    return compact(Object.fromEntries(read)) as T;
  };
}

/** Numbers that were reported; a number that was not is absent, which is not the same as 0. */
export interface UsageFields {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** The part of the input that the provider read from its cache. */
  readonly cacheReadTokens?: number | undefined;
  /** The part of the input that the provider wrote to its cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** The part of the output that was reasoning. */
  readonly reasoningTokens?: number | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
  /** How many calls in this sum did not report their tokens. */
  readonly unreportedCalls?: number | undefined;
}

/** What inference used: of one call, or summed over many. */
export class Usage implements Required<UsageFields> {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** The part of the input that the provider read from its cache. */
  readonly cacheReadTokens: number | undefined;
  /** The part of the input that the provider wrote to its cache. */
  readonly cacheWriteTokens: number | undefined;
  /** The part of the output that was reasoning. */
  readonly reasoningTokens: number | undefined;
  /** US dollars. */
  readonly cost: number | undefined;
  /** How many calls in this sum did not report their tokens. */
  readonly unreportedCalls: number;

  /** Nothing was used. */
  static readonly none: Usage = new Usage({});
  /** One call that reported nothing. */
  static readonly unreported: Usage = new Usage({ unreportedCalls: 1 });

  private constructor(fields: UsageFields) {
    this.inputTokens = fields.inputTokens;
    this.outputTokens = fields.outputTokens;
    this.cacheReadTokens = fields.cacheReadTokens;
    this.cacheWriteTokens = fields.cacheWriteTokens;
    this.reasoningTokens = fields.reasoningTokens;
    this.cost = fields.cost;
    this.unreportedCalls = fields.unreportedCalls ?? 0;
    Object.freeze(this);
  }

  /**
   * The usage of one call. Missing input or output tokens make it unreported.
   * @throws HoldfastError `CONTEXT_INVALID` for a number that is not a count of tokens or an amount of money.
   */
  static of(fields: Omit<UsageFields, 'unreportedCalls'>): Usage {
    const reported = checked('usage', fields, readUsageFields);
    const unreportedCalls = reported.inputTokens === undefined || reported.outputTokens === undefined ? 1 : 0;
    return new Usage({ ...reported, unreportedCalls });
  }

  /** Input and output together, as far as they were reported. */
  get totalTokens(): number {
    return (this.inputTokens ?? 0) + (this.outputTokens ?? 0);
  }

  /** False when some call did not report its tokens: the numbers are then a lower bound. */
  get isComplete(): boolean {
    return this.unreportedCalls === 0;
  }

  /** The sum. A number that neither side knows stays unknown. */
  plus(other: Usage): Usage {
    if (other === Usage.none) return this;
    if (this === Usage.none) return other;
    return new Usage({
      inputTokens: sum(this.inputTokens, other.inputTokens),
      outputTokens: sum(this.outputTokens, other.outputTokens),
      cacheReadTokens: sum(this.cacheReadTokens, other.cacheReadTokens),
      cacheWriteTokens: sum(this.cacheWriteTokens, other.cacheWriteTokens),
      reasoningTokens: sum(this.reasoningTokens, other.reasoningTokens),
      cost: sum(this.cost, other.cost),
      unreportedCalls: this.unreportedCalls + other.unreportedCalls,
    });
  }

  /** The same with a known cost, in US dollars. @throws HoldfastError `CONTEXT_INVALID` for one that is not an amount. */
  withCost(cost: number): Usage {
    return this.cost === cost ? this : new Usage({ ...this, cost: checked('cost', cost, readAmount) });
  }

  toJSON(): UsageFields {
    const document: { -readonly [K in keyof UsageFields]: UsageFields[K] } = {};
    if (this.inputTokens !== undefined) document.inputTokens = this.inputTokens;
    if (this.outputTokens !== undefined) document.outputTokens = this.outputTokens;
    if (this.cacheReadTokens !== undefined) document.cacheReadTokens = this.cacheReadTokens;
    if (this.cacheWriteTokens !== undefined) document.cacheWriteTokens = this.cacheWriteTokens;
    if (this.reasoningTokens !== undefined) document.reasoningTokens = this.reasoningTokens;
    if (this.cost !== undefined) document.cost = this.cost;
    if (this.unreportedCalls > 0) document.unreportedCalls = this.unreportedCalls;
    return document;
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): Usage {
    return DocumentReader.read(json, Usage.read);
  }

  /** @internal */
  static readonly read: Read<Usage> = (reader, value) => {
    const fields = readUsageFields(reader, value);
    if (fields.unreportedCalls === 0) reader.fail('unreportedCalls above 0, or absent', value);
    for (const _ in fields) return new Usage(fields);
    return Usage.none;
  };
}

const USAGE = shapeOf<UsageFields>({
  'inputTokens?': readCount,
  'outputTokens?': readCount,
  'cacheReadTokens?': readCount,
  'cacheWriteTokens?': readCount,
  'reasoningTokens?': readCount,
  'cost?': readAmount,
  'unreportedCalls?': readCount,
});
const readUsageFields: Read<UsageFields> = (reader, value) => readShape(reader, value, USAGE);

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : right === undefined ? left : left + right;
}

/** What a driver may say about an answer. Only `content` is needed; `text` is short for one text part. */
export interface InferenceResponseInit {
  readonly content?: readonly AssistantPart[];
  readonly text?: string;
  /** Default: `tool-calls` when the content asks for tools, else `stop`. */
  readonly finishReason?: FinishReason;
  readonly rawFinishReason?: string | undefined;
  readonly usage?: Usage | Omit<UsageFields, 'unreportedCalls'>;
  /** What the provider said beyond the content; opaque. */
  readonly providerMetadata?: ProviderOptions | undefined;
  /** The model that answered, by the provider's own name. */
  readonly modelId?: string | undefined;
  /** The provider's id of the response. */
  readonly responseId?: string | undefined;
}

type InferenceResponseFields = Pick<
  InferenceResponse,
  'content' | 'finishReason' | 'usage' | 'rawFinishReason' | 'providerMetadata' | 'modelId' | 'responseId'
>;

/** One answer of a model. */
export class InferenceResponse {
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The finish reason in the provider's own word. */
  readonly rawFinishReason: string | undefined;
  /** What the provider said beyond the content; opaque. */
  readonly providerMetadata: ProviderOptions | undefined;
  /** The model that answered, by the provider's own name. */
  readonly modelId: string | undefined;
  /** The provider's id of the response. */
  readonly responseId: string | undefined;

  private constructor(fields: InferenceResponseFields) {
    this.content = fields.content;
    this.finishReason = fields.finishReason;
    this.usage = fields.usage;
    this.rawFinishReason = fields.rawFinishReason;
    this.providerMetadata = fields.providerMetadata;
    this.modelId = fields.modelId;
    this.responseId = fields.responseId;
    Object.freeze(this);
  }

  /** @throws HoldfastError `INFERENCE_INVALID` when a driver answers with something else than an answer. */
  static of(init: InferenceResponseInit | InferenceResponse): InferenceResponse {
    if (init instanceof InferenceResponse) return init;
    try {
      if (!isAnswer(init))
        throw invalidArgument('Neither content, nor text, nor a finish reason.', TypeError);
      const json = toJsonValue(init.content ?? textContent(init.text));
      const parts = DocumentReader.read(json, readAssistantContent);
      const content = withDistinctCallIds(parts);
      const { rawFinishReason, providerMetadata, modelId, responseId } = init;
      const finishReason = init.finishReason ?? (hasToolCalls(content) ? 'tool-calls' : 'stop');
      const metadata = providerMetadata && toJsonObject(providerMetadata);
      const envelope = { finishReason, rawFinishReason, providerMetadata: metadata, modelId, responseId };
      const read: Read<InferenceResponse> = (reader) =>
        InferenceResponse.readEnvelope(reader, envelope, content);
      return DocumentReader.read(envelope, read).withUsage(usageOf(init.usage));
    } catch (error) {
      const found = error instanceof StateFormatError ? error.message : `Found ${describeValue(init)}.`;
      throw new HoldfastError('INFERENCE_INVALID', `The driver's answer is not valid. ${found}`, {
        cause: error,
      });
    }
  }

  /** The text of the answer, run together. */
  get text(): string {
    return textOf(this.content);
  }

  /** The reasoning of the answer, run together. */
  get reasoning(): string {
    return reasoningOf(this.content);
  }

  /** The calls that are ours to run, in the model's order. */
  get toolCalls(): readonly ToolCallPart[] {
    return toolCallsOf(this.content);
  }

  /** Does it ask for tools that are ours to run? */
  get hasToolCalls(): boolean {
    return hasToolCalls(this.content);
  }

  /** The same with another usage, as when its cost becomes known. */
  withUsage(usage: Usage): InferenceResponse {
    return usage === this.usage ? this : new InferenceResponse({ ...this, usage });
  }

  toJSON(): object {
    return { content: this.content, ...this.toEnvelope() };
  }

  /** All but the content, which a step may keep in its messages. @internal */
  toEnvelope(): object {
    const document: InferenceEnvelope = { finishReason: this.finishReason };
    if (this.rawFinishReason !== undefined) document.rawFinishReason = this.rawFinishReason;
    if (this.usage !== Usage.none) document.usage = this.usage.toJSON();
    if (this.providerMetadata !== undefined) document.providerMetadata = this.providerMetadata;
    if (this.modelId !== undefined) document.modelId = this.modelId;
    if (this.responseId !== undefined) document.responseId = this.responseId;
    return document;
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): InferenceResponse {
    return DocumentReader.read(json, (reader, value) => {
      const members = reader.members(value, INFERENCE_NAMES);
      return InferenceResponse.readEnvelope(
        reader,
        members,
        reader.required(members, 'content', readAssistantContent),
      );
    });
  }

  /** @internal */
  static readEnvelope(
    reader: DocumentReader,
    members: Members,
    content: readonly AssistantPart[],
  ): InferenceResponse {
    return new InferenceResponse({
      content,
      finishReason: reader.required(members, 'finishReason', readFinishReason),
      rawFinishReason: reader.optional(members, 'rawFinishReason', readString),
      usage: reader.optional(members, 'usage', readFilledUsage) ?? Usage.none,
      providerMetadata: reader.optional(members, 'providerMetadata', readJsonObject),
      modelId: reader.optional(members, 'modelId', readString),
      responseId: reader.optional(members, 'responseId', readString),
    });
  }
}

interface InferenceEnvelope {
  finishReason: FinishReason;
  rawFinishReason?: string;
  usage?: UsageFields;
  providerMetadata?: ProviderOptions;
  modelId?: string;
  responseId?: string;
}

/** The members of a stored response. @internal */
export const INFERENCE_NAMES: ReadonlySet<string> = new Set([
  'content',
  'finishReason',
  'rawFinishReason',
  'usage',
  'providerMetadata',
  'modelId',
  'responseId',
]);

const readFilledUsage = readFilled(Usage.read);
const readFinishReason = readOneOf(FINISH_REASONS);

function isAnswer(init: unknown): boolean {
  return (
    typeof init === 'object' &&
    init !== null &&
    ('content' in init || 'text' in init || 'finishReason' in init)
  );
}

/** Some providers repeat the id of a call within one answer. A result belongs to one call, so later ones get their own. */
function withDistinctCallIds(content: readonly AssistantPart[]): readonly AssistantPart[] {
  const seen = new Map<string, number>();
  const parts = content.map((part) => {
    if (part.type !== 'tool-call') return part;
    const count = (seen.get(part.toolCallId) ?? 0) + 1;
    seen.set(part.toolCallId, count);
    return count === 1 ? part : Object.freeze({ ...part, toolCallId: `${part.toolCallId}_${count}` });
  });
  return parts.every((part, index) => part === content[index]) ? content : Object.freeze(parts);
}

function textContent(text: string | undefined): readonly AssistantPart[] {
  return text === undefined || text === '' ? [] : [{ type: 'text', text }];
}

function usageOf(usage: InferenceResponseInit['usage']): Usage {
  if (usage === undefined) return Usage.unreported;
  return usage instanceof Usage ? usage : Usage.of(usage);
}
