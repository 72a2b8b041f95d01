import type { Read } from '../document.ts';
import type { JsonObject } from '../json.ts';
import {
  orderedReader,
  readCount,
  readFrozenList,
  readJsonObject,
  readNumber,
  readOneOf,
  readString,
} from '../document.ts';
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

/** Reads a configuration. */
export const readLlmConfig: Read<LlmConfig> = orderedReader({
  'model?': readString,
  'maxOutputTokens?': readCount,
  'temperature?': readNumber,
  'topP?': readNumber,
  'topK?': readNumber,
  'presencePenalty?': readNumber,
  'frequencyPenalty?': readNumber,
  'stopSequences?': readFrozenList(readString),
  'seed?': readNumber,
  'reasoning?': readString,
  'providerOptions?': readJsonObject,
} satisfies Record<`${keyof LlmConfig}?`, Read<unknown>>);

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

const readFormat = orderedReader({
  'type?': readOneOf(['text', 'json']),
  'schema?': readJsonObject,
  'name?': readString,
  'description?': readString,
});

/** Reads a response format. */
export const readResponseFormat: Read<ResponseFormat> = (reader, value) => {
  const format = readFormat(reader, value);
  return format.type === undefined ? reader.fail('a "type" of "text" or "json"', value) : format;
};
