import {
  orderedReader,
  readCount,
  readFrozenList,
  readJsonObject,
  readNumber,
  readOneOf,
  readString,
  type Read,
  readInstant,
  shapeReader,
} from '../../document.ts';
import type { JsonObject } from '../../json.ts';
import type { ProviderOptions } from '../messages/messages.ts';
import type { Instant } from '../../clock.ts';

/**
 * The model settings: a model and its parameters, as JSON. They are stored, so secrets and live objects belong to the
 * driver.
 */
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
  /** The effort of a reasoning model, in a word of the driver (`low`, `medium`, `high`, …). */
  readonly reasoning?: string;
  /** Settings for single providers, by provider name. */
  readonly providerOptions?: ProviderOptions;
}

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

/** The form of a response. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | {
      readonly type: 'json';
      /** JSON Schema of the response. Absent: any JSON. */
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

export const readResponseFormat: Read<ResponseFormat> = (reader, value) => {
  const format = readFormat(reader, value);
  return format.type === undefined ? reader.fail('a "type" of "text" or "json"', value) : format;
};

/** The model that an execution calls instead of its agent's own, and until when. */
export interface ExecutionFallback {
  readonly model: string;
  readonly until: Instant;
}

/** @internal */
export const readFallback: Read<ExecutionFallback> = shapeReader({ model: readString, until: readInstant });
