import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Answer, AnswerUsage, PartOf, Wire, WireFailure } from '../wire.ts';
import { dataEvent, eventStream, jsonResponse } from './event-stream.ts';
import { argumentsOf, pieces, written, type PartWriters } from './parts.ts';

/** The protocol of the AI Gateway: the content and the stream parts of `LanguageModelV4` as JSON. */
export const gatewayWire: Wire = {
  whole: (answer) => jsonResponse(resultOf(answer)),
  streamed: (answer) => eventStream(streamOf(answer).map(dataEvent)),
  refused: (failure) => jsonResponse(errorOf(failure), FAILURES[failure][0]),
  failureEvent: (failure) => dataEvent({ type: 'error', error: errorOf(failure).error }),
};

const FAILURES: Readonly<Record<WireFailure, readonly [status: number, type: string, message: string]>> = {
  rateLimited: [429, 'rate_limit_exceeded', 'Rate limit exceeded.'],
  overloaded: [503, 'internal_server_error', 'The provider is overloaded.'],
  authentication: [401, 'authentication_error', 'Invalid API key.'],
  quotaExceeded: [402, 'insufficient_funds', 'Insufficient funds. Please add credits to your account.'],
  contextTooLong: [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum'],
};

function errorOf(failure: WireFailure) {
  const [, type, message] = FAILURES[failure];
  return { error: { message, type, param: null, code: type } };
}

const RAW_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
};

function resultOf(answer: Answer): object {
  return {
    content: contentOf(answer),
    finishReason: finishOf(answer),
    usage: usageOf(answer.usage),
    warnings: [],
    providerMetadata: { gateway: { generationId: `gen_${answer.id}` } },
  };
}

function finishOf({ finish }: Answer) {
  return { unified: finish, raw: RAW_REASONS[finish] };
}

function usageOf({
  input,
  output,
  cacheRead = 0,
  cacheWrite = 0,
  reasoning = 0,
}: AnswerUsage): LanguageModelV4Usage {
  return {
    inputTokens: { total: input, noCache: input - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output - reasoning, reasoning },
  };
}

type WholePart = Extract<LanguageModelV4StreamPart, LanguageModelV4Content>;

/** The parts that a stream has whole too. */
const WHOLE = {
  call: (part) => [{ type: 'tool-call', toolCallId: part.id, toolName: part.name, input: argumentsOf(part) }],
  'provider-call': searchOf,
  file: ({ mediaType, base64 }) => [{ type: 'file', mediaType, data: { type: 'data', data: base64 } }],
} as const satisfies PartWriters<WholePart>;

function contentOf({ id: answerId, parts }: Answer): readonly LanguageModelV4Content[] {
  return written<LanguageModelV4Content>(parts, {
    ...WHOLE,
    text: ({ text }) => [{ type: 'text', text }],
    reasoning: (part) => [{ type: 'reasoning', text: part.text, ...signed(part) }],
    source: (part, index) => [sourceOf(part, `${answerId}_${index}`)],
  });
}

function sourceOf({ url, title }: PartOf<'source'>, id: string) {
  return { type: 'source', sourceType: 'url', id, url, title } as const;
}

function signed({ signature }: PartOf<'reasoning'>) {
  return signature === undefined ? {} : { providerMetadata: { anthropic: { signature } } };
}

function searchOf({ id, query, result }: PartOf<'provider-call'>): readonly WholePart[] {
  const call = { toolCallId: id, toolName: 'perplexity_search' };
  return [
    { type: 'tool-call', ...call, input: JSON.stringify({ query }), providerExecuted: true },
    { type: 'tool-result', ...call, result: { results: [result] } },
  ];
}

function streamOf(answer: Answer): readonly object[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: answer.id, modelId: 'model-1', timestamp: '2026-01-01T00:00:00.000Z' },
    ...streamPartsOf(answer),
    {
      type: 'finish',
      finishReason: finishOf(answer),
      usage: usageOf(answer.usage),
      providerMetadata: { gateway: { generationId: `gen_${answer.id}` } },
    },
  ];
}

function streamPartsOf({ id: answerId, parts }: Answer): readonly LanguageModelV4StreamPart[] {
  const idOf = (index: number): string => `${answerId}_${index}`;
  return written<LanguageModelV4StreamPart>(parts, {
    ...WHOLE,
    text: ({ text }, index) => [
      { type: 'text-start', id: idOf(index) },
      ...pieces(text).map((delta) => ({ type: 'text-delta', id: idOf(index), delta }) as const),
      { type: 'text-end', id: idOf(index) },
    ],
    reasoning: (part, index) => [
      { type: 'reasoning-start', id: idOf(index) },
      ...pieces(part.text).map((delta) => ({ type: 'reasoning-delta', id: idOf(index), delta }) as const),
      { type: 'reasoning-delta', id: idOf(index), delta: '', ...signed(part) },
      { type: 'reasoning-end', id: idOf(index) },
    ],
    call: (part) => [...inputEvents(part), ...WHOLE.call(part)],
    source: (part, index) => [sourceOf(part, idOf(index))],
  });
}

function inputEvents(call: PartOf<'call'>): readonly LanguageModelV4StreamPart[] {
  const { id, name } = call;
  return [
    { type: 'tool-input-start', id, toolName: name },
    ...pieces(argumentsOf(call)).map((delta) => ({ type: 'tool-input-delta', id, delta }) as const),
    { type: 'tool-input-end', id },
  ];
}
