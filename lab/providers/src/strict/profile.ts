import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { RecordedRequest } from '../server.ts';
import type { Answer, Feature, Wire } from '../wire.ts';
import type { Reader } from './readers/reader.ts';
import type { ErrorForm, PathStyle } from './refusal.ts';

/** A wire protocol as a strict server speaks it: how requests are read, and how answers and refusals are written. */
export interface StrictWire {
  readonly name: string;
  readonly read: Reader;
  readonly write: Wire;
  readonly refuse: ErrorForm;
  readonly paths: PathStyle;
  readonly isStreamed: (request: RecordedRequest) => boolean;
  /** The ids and types of the items of an answer, where the server keeps them. */
  readonly itemsOf?: (answer: Answer) => readonly { readonly id: string; readonly type: string }[];
}

/** A provider with a model, as a strict server plays it. */
export interface StrictProfile {
  readonly name: string;
  /** The package that calls it. */
  readonly package: string;
  readonly wire: StrictWire;
  /** The names by which the rules know it. */
  readonly dialects: readonly string[];
  /** True when the model reasons without being asked to. */
  readonly reasons?: boolean;
  /** The features that the answers of the model may have. */
  readonly features: ReadonlySet<Feature>;
  /** The provider options that the model needs, such as those for a budget of thinking. */
  readonly options?: Readonly<Record<string, JSONObject>>;
  /** A new instance of the model, whose requests go to `baseUrl`, which has no path and no slash at its end. */
  readonly model: (baseUrl: string) => LanguageModelV4;
}
