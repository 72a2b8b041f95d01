import type { JsonObject, JsonValue, Message } from '@holdfast/core';
import type { Driver, InferenceDelta, InferenceRequest } from '@holdfast/core/driver';
import { InferenceResponse, List } from '@holdfast/core/driver';

/** What a provider does with one call. */
export type ProviderReply =
  | {
      readonly type: 'answer';
      readonly text?: string;
      readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: JsonValue }[];
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
      /** Default: `tool-calls` with calls, else `stop`. */
      readonly finishReason?: 'length';
    }
  /** It refuses the call, and would do so again: a wrong key. */
  | { readonly type: 'refusal' }
  /** It says when it is asked, and does not answer as long as the case runs. */
  | { readonly type: 'silence'; readonly onAsked: () => void };

/** What the provider was asked, as it understood it. */
export interface ProviderRequest {
  /**
   * In order: `system TEXT`, `user TEXT`, `assistant TEXT`, `call ID NAME`, `result ID TEXT`. Parts of a message that
   * are empty are left out.
   */
  readonly said: readonly string[];
  /** The names of the tools, in order. */
  readonly tools: readonly string[];
  /** The JSON Schema that the answer must have. */
  readonly schema: JsonObject | undefined;
}

/** A driver, and the provider at its other end. */
export interface DriverUnderTest {
  readonly driver: Driver;
  /** What the provider was asked so far. */
  readonly requests: () => readonly ProviderRequest[];
}

/** Makes a driver of a provider that gives these replies, in order. Whoever passes it in also ends the provider. */
export type CreateDriver = (script: readonly ProviderReply[]) => Promise<DriverUnderTest>;

/** One thing that every driver must do. */
export interface DriverCase {
  readonly name: string;
  /** Rejects when the driver does not do it. */
  readonly run: (createDriver: CreateDriver) => Promise<void>;
}

export const USAGE = { inputTokens: 11, outputTokens: 7 };

export const answer = (
  reply: Omit<Extract<ProviderReply, { type: 'answer' }>, 'type' | 'usage'>,
): ProviderReply => ({ type: 'answer', usage: USAGE, ...reply });

/** A request for these messages, with nothing else said. */
export function requestOf(
  messages: readonly Message[],
  rest: Partial<InferenceRequest> = {},
): InferenceRequest {
  return {
    messages: List.from(messages),
    systemPrompt: undefined,
    tools: [],
    toolChoice: 'auto',
    responseFormat: undefined,
    llmConfig: undefined,
    ...rest,
  };
}

/** The answer, and the pieces that it came in; without a listener there are none. */
export async function inferred(
  driver: Driver,
  request: InferenceRequest,
  options: { readonly isHeard: boolean; readonly signal?: AbortSignal },
): Promise<{ readonly response: InferenceResponse; readonly deltas: readonly InferenceDelta[] }> {
  const deltas: InferenceDelta[] = [];
  const onDelta = options.isHeard ? (delta: InferenceDelta) => void deltas.push(delta) : undefined;
  const signal = options.signal ?? new AbortController().signal;
  return { response: InferenceResponse.of(await driver.infer(request, { signal, onDelta })), deltas };
}
