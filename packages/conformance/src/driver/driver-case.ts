import type { JsonObject, JsonValue, Message } from '@holdfast/core';
import type { Driver, InferenceDelta, InferenceRequest } from '@holdfast/core/driver';
import { InferenceResponse, List, optionsCheck } from '@holdfast/core/driver';
import { harnessChecks } from '../harness.ts';
import type { Closable, Harness } from '../harness.ts';

/** The reply of a provider to one call. */
export type ProviderReply =
  | {
      readonly type: 'answer';
      readonly text?: string;
      readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: JsonValue }[];
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
      /** The default is `tool-calls` for a reply with calls, and `stop` for others. */
      readonly finishReason?: 'length';
    }
  /** The provider refuses the call, and would refuse a retry too, for example because of a wrong key. */
  | { readonly type: 'refusal' }
  /** The provider calls `onAsked` when the call arrives, and does not reply while the case runs. */
  | { readonly type: 'silence'; readonly onAsked: () => void };

/** A request as the provider received it. */
export interface ProviderRequest {
  /**
   * The texts, calls and results of the conversation in order, as `system TEXT`, `user TEXT`, `assistant TEXT`,
   * `call ID NAME` or `result ID TEXT`. Empty parts of a message are omitted.
   */
  readonly said: readonly string[];
  /** The names of the tools, in order. */
  readonly tools: readonly string[];
  /** The JSON Schema that the response must fit. */
  readonly schema: JsonObject | undefined;
}

/** A driver, the provider that it calls, and the function that stops the provider. */
export interface DriverUnderTest extends Closable {
  readonly driver: Driver;
  /** The requests that the provider has received so far, in order. */
  readonly requests: () => readonly ProviderRequest[];
}

/** Creates a driver, and a provider that gives these replies in order. */
export type CreateDriver = (script: readonly ProviderReply[]) => Promise<DriverUnderTest>;

/** Creates the drivers of the cases, and their providers. */
export interface DriverHarness extends Harness<CreateDriver> {}

export const checkDriverHarness = optionsCheck<DriverHarness>('the harness of a driver', harnessChecks);

/** A requirement on every driver. */
export interface DriverCase {
  readonly name: string;
  /** Runs the case. Rejects when the driver does not meet the requirement. */
  readonly run: (createDriver: CreateDriver) => Promise<void>;
}

export const USAGE = { inputTokens: 11, outputTokens: 7 };

export const answer = (
  reply: Omit<Extract<ProviderReply, { type: 'answer' }>, 'type' | 'usage'>,
): ProviderReply => ({ type: 'answer', usage: USAGE, ...reply });

/** A request for these messages, with defaults for all other options. */
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

/** Calls the driver. Returns the response and its deltas; without a listener there are no deltas. */
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
