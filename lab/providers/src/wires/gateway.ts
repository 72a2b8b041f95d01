import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Answer, AnswerPart, AnswerUsage, Wire, WireFailure } from '../wire.ts';
import { dataEvent, eventStream, jsonResponse } from './event-stream.ts';
import { pieces } from './parts.ts';

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
    content: answer.parts.flatMap((part, index) => contentOf(part, `${answer.id}_${index}`)),
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

function contentOf(part: AnswerPart, id: string): readonly LanguageModelV4Content[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...signed(part) }];
    default:
      return wholePartsOf(part, id);
  }
}

type WholePart = Extract<LanguageModelV4StreamPart, LanguageModelV4Content>;

/** The parts that a stream has whole too. */
function wholePartsOf(part: AnswerPart, id: string): readonly WholePart[] {
  switch (part.type) {
    case 'call':
      return [
        { type: 'tool-call', toolCallId: part.id, toolName: part.name, input: JSON.stringify(part.input) },
      ];
    case 'provider-call':
      return searchOf(part);
    case 'source':
      return [{ type: 'source', sourceType: 'url', id, url: part.url, title: part.title }];
    case 'file':
      return [{ type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.base64 } }];
    case 'text':
    case 'reasoning':
    default:
      return [];
  }
}

function signed({ signature }: Extract<AnswerPart, { type: 'reasoning' }>) {
  return signature === undefined ? {} : { providerMetadata: { anthropic: { signature } } };
}

function searchOf({
  id,
  query,
  result,
}: Extract<AnswerPart, { type: 'provider-call' }>): readonly WholePart[] {
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
    ...answer.parts.flatMap((part, index) => streamPartsOf(part, `${answer.id}_${index}`)),
    {
      type: 'finish',
      finishReason: finishOf(answer),
      usage: usageOf(answer.usage),
      providerMetadata: { gateway: { generationId: `gen_${answer.id}` } },
    },
  ];
}

function streamPartsOf(part: AnswerPart, id: string): readonly LanguageModelV4StreamPart[] {
  switch (part.type) {
    case 'text':
      return [
        { type: 'text-start', id },
        ...pieces(part.text).map((delta) => ({ type: 'text-delta', id, delta }) as const),
        { type: 'text-end', id },
      ];
    case 'reasoning':
      return [
        { type: 'reasoning-start', id },
        ...pieces(part.text).map((delta) => ({ type: 'reasoning-delta', id, delta }) as const),
        { type: 'reasoning-delta', id, delta: '', ...signed(part) },
        { type: 'reasoning-end', id },
      ];
    case 'call':
      return [...inputOf(part), ...wholePartsOf(part, id)];
    case 'provider-call':
    case 'source':
    case 'file':
    default:
      return wholePartsOf(part, id);
  }
}

function inputOf({
  id,
  name,
  input,
}: Extract<AnswerPart, { type: 'call' }>): readonly LanguageModelV4StreamPart[] {
  return [
    { type: 'tool-input-start', id, toolName: name },
    ...pieces(JSON.stringify(input)).map((delta) => ({ type: 'tool-input-delta', id, delta }) as const),
    { type: 'tool-input-end', id },
  ];
}
