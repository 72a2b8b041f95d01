import type { LanguageModelV4, LanguageModelV4ProviderTool } from '@ai-sdk/provider';

/** A part of an answer, in the terms of the matrix. Each wire writes it in the provider's own form. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  /** `signature`: the proof that the provider wants back, such as Anthropic's signature or OpenAI's encrypted content. */
  | { readonly type: 'reasoning'; readonly text: string; readonly signature?: string }
  /**
   * `caller`: the program of the model that makes the call, for OpenAI's programmatic calls. `argumentsText`: the
   * arguments as the model wrote them, in place of `input`, when they are no JSON or no object.
   */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: object;
      readonly argumentsText?: string;
      readonly caller?: string;
    }
  /** A call that the provider runs itself, with its result. */
  | {
      readonly type: 'provider-call';
      readonly id: string;
      readonly query: string;
      readonly result: { readonly title: string; readonly url: string };
    }
  | { readonly type: 'source'; readonly title: string; readonly url: string }
  /** A file that the model made. */
  | { readonly type: 'file'; readonly mediaType: string; readonly base64: string };

/** A part of one type. */
export type PartOf<Type extends AnswerPart['type']> = Extract<AnswerPart, { type: Type }>;

/** The tokens that an answer reports. */
export interface AnswerUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** One answer of a model. */
export interface Answer {
  /** Unique in a conversation. A wire makes the ids of the response and of its items from it. */
  readonly id: string;
  readonly parts: readonly AnswerPart[];
  readonly finish: 'stop' | 'length' | 'tool-calls' | 'content-filter';
  readonly usage: AnswerUsage;
  /** The signature of the first call when the answer has no reasoning, for Gemini. */
  readonly signature?: string;
}

/** A response over HTTP. `chunks`: the pieces of a streamed body, one for each event of the protocol. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
}

/** A failure of a provider. */
export type WireFailure =
  | 'rateLimited'
  | 'overloaded'
  | 'authentication'
  | 'quotaExceeded'
  | 'contextTooLong';

/** Writes answers in the protocol of a provider. */
export interface Wire {
  /** The answer as one body. */
  readonly whole: (answer: Answer) => WireResponse;
  /** The answer as a stream: one chunk for each event. The last chunk ends the answer. */
  readonly streamed: (answer: Answer) => WireResponse;
  /** A request that the provider refuses. */
  readonly refused: (failure: WireFailure) => WireResponse;
  /** The event with which the provider reports a failure inside a stream; `undefined` when the protocol has none. */
  readonly failureEvent: (failure: WireFailure) => string | Uint8Array | undefined;
}

/** A capability of a provider's protocol and package. A row of the matrix that needs more is not run. */
export type Feature =
  | 'reasoning'
  | 'signature'
  | 'parallel-calls'
  | 'picture-results'
  | 'provider-calls'
  | 'program-calls'
  | 'files-in'
  | 'files-out'
  | 'sources'
  | 'cache-usage'
  | 'reasoning-usage'
  | 'structured-output';

/** Provider options, by the name of the provider. */
type ProviderSettings = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/** A provider package of the AI SDK, with the protocol of its server. */
export interface Provider {
  /** The name in the table, such as `openai (Responses)`. */
  readonly name: string;
  /** The package, such as `@ai-sdk/openai`. */
  readonly package: string;
  readonly wire: Wire;
  readonly features: ReadonlySet<Feature>;
  /** The tool that the provider runs itself, for rows with a `provider-call`. */
  readonly providerTool?: LanguageModelV4ProviderTool;
  /** The provider options of each call. */
  readonly options?: ProviderSettings;
  /** The provider options that the driver sets by itself. The AI SDK is called with them. */
  readonly defaults?: ProviderSettings;
  /** True when the server writes the request to the model anew: the order of members in our request has no meaning. */
  readonly hasFreeOrder?: boolean;
  /** A new instance of the model, whose requests go to `baseUrl`, which has no path and no slash at its end. */
  readonly model: (baseUrl: string) => LanguageModelV4;
}
