import type { Read } from '../document.ts';
import type { JsonObject } from '../json.ts';
import { readCount, readFrozenList, readJsonObject, readNumber, readOneOf, readString } from '../document.ts';
import { compact } from '../json.ts';
import type { ProviderOptions } from './messages/messages.ts';

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
