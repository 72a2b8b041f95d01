import type { JsonObject, JsonValue, LlmConfig } from '@holdfast/core';
import type { ToolChoice, ToolDescription } from '@holdfast/core/driver';

/** The usage that a provider reports. */
export interface ProviderUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of the input that was read from a cache. */
  readonly cacheReadTokens?: number;
  /** The part of the output that was reasoning. */
  readonly reasoningTokens?: number;
}

/** A tool call in the reply of a provider. */
export interface ProviderCall {
  readonly id: string;
  readonly name: string;
  /** The JSON text of the arguments. It is no JSON in the cases that need the ability `invalidArguments`. */
  readonly arguments: string;
}

/** The content of a reply, in this order. */
export interface ProviderContent {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly ProviderCall[];
}

/** The reason why a provider refuses a call, by the usual HTTP status. */
export type Refusal =
  /** 401: the key is wrong. */
  | 'authentication'
  /** 402, or 429 with a code for it: the credit is spent. */
  | 'quotaExceeded'
  /** 404: the model is unknown. */
  | 'modelNotFound'
  /** 400: the request is not valid. */
  | 'invalidRequest'
  /** 400 with a code for it: the conversation is too long for the model. */
  | 'contextTooLong'
  /** 400 with a code for it: the messages were filtered. */
  | 'contentFiltered'
  /** 429: too many calls. */
  | 'rateLimited'
  /** 500: the server failed. */
  | 'serverError'
  /** 503: the service is unavailable. */
  | 'unavailable'
  /** 529, or 503 with a code for it: the provider is overloaded. */
  | 'overloaded';

/** Every reason of a refusal, for a provider that can give them all. */
export const REFUSALS: readonly Refusal[] = [
  'authentication',
  'quotaExceeded',
  'modelNotFound',
  'invalidRequest',
  'contextTooLong',
  'contentFiltered',
  'rateLimited',
  'serverError',
  'unavailable',
  'overloaded',
];

/** How a response is interrupted: the connection is cut, the stream ends without an error, or it ends with an error. */
export type Interruption = 'cut' | 'end' | 'error';

/** The reply of a provider to one call. */
export type ProviderReply =
  | (ProviderContent & {
      readonly type: 'answer';
      /** Absent: the provider reports no usage. */
      readonly usage?: ProviderUsage;
      /**
       * The default is `tool-calls` for a reply with calls, and `stop` for others. `unknown` stands for a reason that
       * no driver knows.
       */
      readonly finishReason?: 'length' | 'content-filter' | 'unknown';
      /** The provider's id of the response, and the model that wrote it. The provider chooses them by default. */
      readonly responseId?: string;
      readonly modelId?: string;
    })
  /** The provider refuses the call. Its message repeats the `secrets` of the harness. */
  | {
      readonly type: 'refusal';
      readonly refusal: Refusal;
      /** The seconds after which the provider accepts another call. */
      readonly retryAfterSeconds?: number;
    }
  /**
   * The provider sends the content, then the beginning of another call, and then the response is interrupted. Without
   * content, a `cut` comes before anything of the response. The error of the interruption `error` states that the
   * provider is overloaded.
   */
  | (ProviderContent & {
      readonly type: 'interruption';
      readonly interruption: Interruption;
      /** A call whose arguments are only begun. */
      readonly openCall?: ProviderCall;
      /** Usage that the provider reports before the interruption. */
      readonly usage?: ProviderUsage;
      /** The provider waits for this promise before the interruption: the listener has received what was sent. */
      readonly after?: Promise<void>;
    })
  /** The reply is not in the protocol of the provider, for example the HTML page of a proxy, with status 200. */
  | { readonly type: 'noise' }
  /**
   * The provider sends the text, if there is one, then calls `onAsked`, and does not reply further while the case runs.
   * It calls `onClosed` when the driver has closed the connection (ability `disconnects`).
   */
  | {
      readonly type: 'silence';
      readonly text?: string;
      readonly onAsked: () => void;
      readonly onClosed?: () => void;
    };

/** A file as a provider received it: base64, or the URL. */
export interface SentFile {
  readonly mediaType?: string;
  readonly data?: string;
  readonly url?: string;
}

/** A part of the conversation as a provider received it. */
export type SentPart =
  | { readonly type: 'text'; readonly role: 'system' | 'user' | 'assistant'; readonly text: string }
  | ({ readonly type: 'file' } & SentFile)
  /** `arguments` is the JSON text. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'result';
      readonly id: string;
      /** The text that the model reads: a text as it is, and other values as JSON. */
      readonly text: string;
      /** True when the driver marked the result as an error. */
      readonly isError?: boolean;
      readonly files?: readonly SentFile[];
    };

/** A request as the provider received it. */
export interface ProviderRequest {
  /** The parts of all messages, in order. Empty texts are omitted. */
  readonly content: readonly SentPart[];
  /** The tools, in order. */
  readonly tools: readonly ToolDescription[];
  /** Absent: the provider received no choice, which means `auto`. */
  readonly toolChoice?: ToolChoice | undefined;
  /** The requested form of the response; absent for free text. */
  readonly responseFormat?:
    | { readonly schema?: JsonObject | undefined; readonly name?: string | undefined }
    | undefined;
  /** The model and its settings, with the names of `LlmConfig`. */
  readonly settings: LlmConfig;
}

/** Returns the parts of a request as short texts: `user TEXT`, `call ID NAME`, `result ID TEXT`, `file TYPE`. */
export function saidIn(request: ProviderRequest | undefined): readonly string[] {
  return (request?.content ?? []).map(said);
}

function said(part: SentPart): string {
  switch (part.type) {
    case 'text':
      return `${part.role} ${part.text}`;
    case 'file':
      return `file ${part.mediaType ?? part.url}`;
    case 'call':
      return `call ${part.id} ${part.name}`;
    case 'result':
    default:
      return `result ${part.id} ${part.text}`;
  }
}

/** Returns a call of a reply with these arguments. */
export function callWith(id: string, name: string, input: JsonValue): ProviderCall {
  return { id, name, arguments: JSON.stringify(input) };
}
