import { describeValue, HoldfastError } from '../../errors.ts';
import { some } from '../values/frozen-array.ts';
import {
  byClass,
  DocumentReader,
  readJsonObject,
  readOneOf,
  readOrdered,
  readString,
  shapeOf,
  since,
  type Fields,
  type Members,
  type Read,
} from '../../document.ts';
import { toJsonObject, toJsonValue } from '../../json.ts';
import type { Init } from '../values/copy.ts';
import { toErrorRecord } from '../values/error-record.ts';
import {
  readAssistantContent,
  type AssistantPart,
  type ProviderOptions,
  type ToolCallPart,
} from '../messages/messages.ts';
import { hasToolCalls, reasoningOf, textOf, toolCallsOf } from '../messages/message-parts.ts';
import { plainContent } from '../messages/plain-content.ts';
import { readNonEmptyUsage, reportableUsage, requireUsage, Usage, type CallUsage } from './usage.ts';

/**
 * Why a model stopped writing. `aborted`: the loop aborted the call, and the response holds what had arrived. `other`:
 * for the reason in `rawFinishReason`; without a raw reason the response counts as broken off.
 */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  | 'error'
  | 'aborted'
  | 'other';

export const FINISH_REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'aborted',
  'other',
];

/** The members of a response that a driver returns. Only `content` is required; `text` stands for one text part. */
export interface InferenceResponseInit {
  readonly content?: readonly AssistantPart[];
  readonly text?: string;
  /** Default: `tool-calls` when the content has tool calls that the loop runs, else `stop`. */
  readonly finishReason?: FinishReason;
  readonly rawFinishReason?: string | undefined;
  /** An invalid number, such as a negative one or NaN, counts as not reported. */
  readonly usage?: Usage | CallUsage;
  /** Opaque facts of the provider beside the content. */
  readonly providerMetadata?: ProviderOptions | undefined;
  /** The model of the response, by the provider's own name. */
  readonly modelId?: string | undefined;
  /** The provider's id of the response. */
  readonly responseId?: string | undefined;
  /** The provider's id of the HTTP request, which its support asks for. */
  readonly requestId?: string | undefined;
  /** The HTTP headers of the response that the driver was told to store, by their names in lower case. */
  readonly responseHeaders?: ResponseHeaders | undefined;
}

/** HTTP headers of a response, by their names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string>>;

const readFinishReason = readOneOf(FINISH_REASONS);

const readResponseHeaders: Read<ResponseHeaders> = (reader, value) => {
  const headers = readJsonObject(reader, value);
  const entries = Object.keys(headers).map((name) => [name, reader.required(headers, name, readString)]);
  return Object.freeze(Object.fromEntries(entries) as Record<string, string>);
};

/** The members of a stored response. Its step reads the content. */
export const INFERENCE = shapeOf({
  'content?': byClass,
  finishReason: readFinishReason,
  'rawFinishReason?': readString,
  'usage?': readNonEmptyUsage,
  'providerMetadata?': readJsonObject,
  'modelId?': readString,
  'responseId?': readString,
  'requestId?': since(2, readString),
  'responseHeaders?': since(2, readResponseHeaders),
});

type InferenceResponseFields = Init<Fields<typeof INFERENCE, 'usage'>, 'finishReason' | 'usage'> & {
  readonly content: readonly AssistantPart[];
};

/** One response of a model. */
export class InferenceResponse implements Omit<InferenceResponseInit, 'text'> {
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The finish reason in the provider's own word. */
  readonly rawFinishReason: string | undefined;
  readonly providerMetadata: ProviderOptions | undefined;
  readonly modelId: string | undefined;
  readonly responseId: string | undefined;
  declare readonly requestId?: string;
  declare readonly responseHeaders?: ResponseHeaders;
  #toolCalls: readonly ToolCallPart[] | undefined;

  private constructor(fields: InferenceResponseFields) {
    this.content = fields.content;
    this.finishReason = fields.finishReason;
    this.usage = fields.usage;
    this.rawFinishReason = fields.rawFinishReason;
    this.providerMetadata = fields.providerMetadata;
    this.modelId = fields.modelId;
    this.responseId = fields.responseId;
    if (fields.requestId !== undefined) this.requestId = fields.requestId;
    if (fields.responseHeaders !== undefined) this.responseHeaders = fields.responseHeaders;
    Object.freeze(this);
  }

  /**
   * Creates a response.
   * @throws HoldfastError `INFERENCE_INVALID` for an invalid response of a driver, and for an unknown member.
   */
  static of(init: InferenceResponseInit | InferenceResponse): InferenceResponse {
    if (init instanceof InferenceResponse) return init;
    if (!isResponseInit(init))
      throw invalidResponse(`Expected content, text or a finish reason, found ${describeValue(init)}.`);
    for (const name in init) if (!INIT_NAMES.has(name)) throw unknownMember(name);
    try {
      const given = init.content ?? textContent(init.text);
      const parts = plainContent(given) ?? DocumentReader.read(toJsonValue(given), readAssistantContent);
      const content = withDistinctCallIds(parts);
      const { rawFinishReason, providerMetadata, modelId, responseId, requestId, responseHeaders } = init;
      const finishReason = init.finishReason ?? (hasToolCalls(content) ? 'tool-calls' : 'stop');
      const metadata = providerMetadata && toJsonObject(providerMetadata);
      const envelope = { finishReason, rawFinishReason, providerMetadata: metadata, modelId, responseId };
      const usage = reportedUsage(init.usage);
      if (requestId !== undefined || responseHeaders !== undefined)
        Object.assign(envelope, { requestId, responseHeaders });
      if (isPlainEnvelope(envelope)) return new InferenceResponse({ content, usage, ...envelope });
      const read: Read<InferenceResponse> = (reader) =>
        InferenceResponse.readEnvelope(reader, envelope, content, usage);
      return DocumentReader.read(envelope, read);
    } catch (error) {
      throw invalidResponse(toErrorRecord(error).message, error);
    }
  }

  /** The text of the response, concatenated. */
  get text(): string {
    return textOf(this.content);
  }

  /** The reasoning of the response, concatenated. */
  get reasoning(): string {
    return reasoningOf(this.content);
  }

  /**
   * The tool calls that the loop handles, in the model's order: the loop runs them, or requests approval for the provider.
   */
  get toolCalls(): readonly ToolCallPart[] {
    return (this.#toolCalls ??= Object.freeze(toolCallsOf(this.content)));
  }

  /** True when the response has tool calls that the loop handles. */
  get hasToolCalls(): boolean {
    return this.toolCalls.length > 0;
  }

  /** Returns the response with another usage, as when its cost becomes known. */
  withUsage(usage: Usage): InferenceResponse {
    requireUsage(usage);
    return usage === this.usage ? this : new InferenceResponse({ ...this, usage });
  }

  toJSON(): object {
    return { content: this.content, ...writeEnvelope(this) };
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): InferenceResponse {
    return DocumentReader.read(json, (reader, value) => {
      const members = reader.members(value, INFERENCE.members);
      const content = reader.required(members, 'content', readAssistantContent);
      return InferenceResponse.readEnvelope(reader, members, content);
    });
  }

  /** @internal */
  static readEnvelope(
    reader: DocumentReader,
    members: Members,
    content: readonly AssistantPart[],
    usage = reader.optional(members, 'usage', readNonEmptyUsage) ?? Usage.none,
  ): InferenceResponse {
    if (isPlainEnvelope(members)) return new InferenceResponse({ ...members, content, usage });
    return new InferenceResponse({ ...readOrdered(reader, members, INFERENCE), content, usage });
  }
}

/** True for a response with a member that version 1 does not have. */
export function hasHttpFacts({ requestId, responseHeaders }: InferenceResponse): boolean {
  return requestId !== undefined || responseHeaders !== undefined;
}

/** True for a response without any finish reason: it broke off, and may be incomplete. */
export function isUnfinished({ finishReason, rawFinishReason }: InferenceResponse): boolean {
  return finishReason === 'other' && rawFinishReason === undefined;
}

/** The words with which providers end a response that failed. Sources: the packages of the AI SDK, issues of their users. */
const BROKEN = new Set(
  'error failed network_error model_error malformed_function_call unexpected_tool_call too_many_tool_calls insufficient_system_resource'.split(
    ' ',
  ),
);

/** True for a response that its provider ended with an error. */
export function isBroken({ finishReason, rawFinishReason }: InferenceResponse): boolean {
  if (finishReason === 'error') return true;
  return finishReason === 'other' && BROKEN.has(rawFinishReason?.toLowerCase() ?? '');
}

/** True for a response with nothing that a reader or a tool could use. A partial or filtered response is none of these. */
export function isEmpty({ finishReason, content }: InferenceResponse): boolean {
  return finishReason !== 'aborted' && finishReason !== 'content-filter' && !some(content, isUsable);
}

function isUsable(part: AssistantPart): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : !EMPTY_TYPES.has(part.type);
}

const EMPTY_TYPES: ReadonlySet<string> = new Set(['reasoning', 'reasoning-file', 'source']);

/** Returns the document of a response without its content, which the messages of a step can hold. */
export function writeEnvelope(response: InferenceResponseFields): object {
  const { finishReason, rawFinishReason, usage, providerMetadata, modelId, responseId } = response;
  const { requestId, responseHeaders } = response;
  const document: { -readonly [Name in keyof InferenceResponseFields]?: unknown } = { finishReason };
  if (rawFinishReason !== undefined) document.rawFinishReason = rawFinishReason;
  if (usage !== Usage.none) document.usage = usage.toJSON();
  if (providerMetadata !== undefined) document.providerMetadata = providerMetadata;
  if (modelId !== undefined) document.modelId = modelId;
  if (responseId !== undefined) document.responseId = responseId;
  if (requestId !== undefined) document.requestId = requestId;
  if (responseHeaders !== undefined) document.responseHeaders = responseHeaders;
  return document;
}

const INIT_NAMES: ReadonlySet<string> = new Set(['text', ...INFERENCE.members.keys()]);

const KNOWN_REASONS: ReadonlySet<unknown> = new Set(FINISH_REASONS);

/** True when all members are valid without a reader. */
function isPlainEnvelope(envelope: Members): envelope is Omit<InferenceResponseFields, 'content' | 'usage'> {
  const { finishReason, rawFinishReason, providerMetadata, modelId, responseId } = envelope;
  if (envelope['requestId'] !== undefined || envelope['responseHeaders'] !== undefined) return false;
  if (providerMetadata !== undefined || !KNOWN_REASONS.has(finishReason)) return false;
  return isTextOrNone(rawFinishReason) && isTextOrNone(modelId) && isTextOrNone(responseId);
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function invalidResponse(found: string, cause?: unknown): HoldfastError {
  return new HoldfastError('INFERENCE_INVALID', `The driver's response is not valid. ${found}`, { cause });
}

function unknownMember(name: string): HoldfastError {
  const known = [...INIT_NAMES].join(', ');
  const advice = 'Other facts go into providerMetadata, by the name of the provider.';
  return invalidResponse(`It has an unknown member "${name}". Known members: ${known}. ${advice}`);
}

function isResponseInit(init: unknown): boolean {
  return (
    typeof init === 'object' &&
    init !== null &&
    ('content' in init || 'text' in init || 'finishReason' in init)
  );
}

/**
 * Returns content in which each tool call has its own id. Some providers repeat an id within one response, but a result
 * belongs to one call, so later calls get a new id.
 */
function withDistinctCallIds(content: readonly AssistantPart[]): readonly AssistantPart[] {
  if (content.length < 2) return content;
  const given = new Set<string>();
  let calls = 0;
  for (const part of content) {
    if (part.type !== 'tool-call') continue;
    given.add(part.toolCallId);
    calls++;
  }
  if (given.size === calls) return content;
  const counts = new Map<string, number>();
  const parts = content.map((part) => {
    if (part.type !== 'tool-call') return part;
    const { toolCallId } = part;
    let count = (counts.get(toolCallId) ?? 0) + 1;
    while (count > 1 && given.has(`${toolCallId}_${count}`)) count++;
    counts.set(toolCallId, count);
    return count === 1 ? part : Object.freeze({ ...part, toolCallId: `${toolCallId}_${count}` });
  });
  return Object.freeze(parts);
}

function textContent(text: string | undefined): readonly AssistantPart[] {
  return text === undefined || text === '' ? [] : [{ type: 'text', text }];
}

/** Returns the usage that a driver reported, or `Usage.unreported`. */
export function reportedUsage(usage: InferenceResponseInit['usage']): Usage {
  if (usage === undefined) return Usage.unreported;
  return usage instanceof Usage ? usage : Usage.of(reportableUsage(usage));
}
