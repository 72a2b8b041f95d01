import {
  APICallError,
  type LanguageModelV4Content,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Message } from '@holdfast/core';
import {
  List,
  type InferenceDelta,
  type InferenceOptions,
  type InferenceRequest,
} from '@holdfast/core/driver';
import { convertArrayToReadableStream } from 'ai/test';

/** A request with these messages. The other members are as for an agent without options. */
export function request(
  messages: readonly Message[] | List<Message>,
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

/** Inference without a listener. */
export function quietly(signal: AbortSignal = new AbortController().signal): InferenceOptions {
  return { signal, onDelta: undefined };
}

/** Inference with a listener, and the deltas that the listener received. */
export function listening(
  signal: AbortSignal = new AbortController().signal,
): InferenceOptions & { readonly deltas: InferenceDelta[] } {
  const deltas: InferenceDelta[] = [];
  return { signal, onDelta: (delta) => void deltas.push(delta), deltas };
}

/** Three tokens in, two out. */
export const usage: LanguageModelV4Usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

export const stop = { unified: 'stop', raw: 'stop' } as const;

/** The response of a model without a stream. */
export function answer(
  content: string | LanguageModelV4Content[],
  rest: Partial<LanguageModelV4GenerateResult> = {},
): LanguageModelV4GenerateResult {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { content: parts, finishReason: stop, usage, warnings: [], ...rest };
}

export const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: stop, usage };

/** The stream of a model. */
export function stream(parts: LanguageModelV4StreamPart[]): LanguageModelV4StreamResult {
  return { stream: convertArrayToReadableStream(parts) };
}

/** The parts of a streamed text. */
export function textParts(...deltas: string[]): LanguageModelV4StreamPart[] {
  return [
    { type: 'text-start', id: '0' },
    ...deltas.map((delta): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '0', delta })),
    { type: 'text-end', id: '0' },
  ];
}

/** A stream that emits the parts and then waits until it is cancelled. */
export function unfinishedStream(parts: LanguageModelV4StreamPart[]): {
  readonly stream: ReadableStream<LanguageModelV4StreamPart>;
  readonly cancelled: Promise<unknown>;
} {
  const cancelled = Promise.withResolvers<unknown>();
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
    },
    cancel: cancelled.resolve,
  });
  return { stream, cancelled: cancelled.promise };
}

/** An error of a provider's API, with secrets that the driver must remove. */
export function apiError(
  statusCode: number,
  rest: {
    readonly message?: string;
    readonly headers?: Record<string, string>;
    readonly responseBody?: string;
    readonly cause?: unknown;
  } = {},
): APICallError {
  return new APICallError({
    message: rest.message ?? `status ${statusCode}`,
    url: 'https://api.example.com/v1/chat?key=url-secret',
    requestBodyValues: { prompt: 'body-secret' },
    cause: rest.cause,
    responseBody: rest.responseBody ?? '{"error":"response-secret"}',
    statusCode,
    ...(rest.headers && { responseHeaders: rest.headers }),
  });
}

/** The error with which a promise was rejected. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('The promise was expected to be rejected.');
    },
    (error: unknown) => error,
  );
}
