import type { Answer, AnswerUsage, PartOf, Wire, WireFailure } from '../wire.ts';
import { dataEvent, eventStream, jsonResponse } from './event-stream.ts';
import { inputOf, partsOfType, pieces, written, type PartWriters } from './parts.ts';

type Data = Readonly<Record<string, unknown>>;

/**
 * The protocol of Gemini, which Vertex AI shares. The signature of the reasoning stands on the first call, as Gemini
 * sends it, or on an empty text at the end of an answer without calls.
 */
export const googleWire: Wire = {
  whole: (answer) => jsonResponse(chunkOf(answer, partsOf(answer), true)),
  streamed: (answer) => eventStream(chunksOf(answer).map(dataEvent)),
  refused: (failure) => jsonResponse(errorOf(failure), FAILURES[failure][0]),
  failureEvent: (failure) => dataEvent(errorOf(failure)),
};

const FINISH_REASONS = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
} as const;

const QUOTA_TEXT = 'You exceeded your current quota, please check your plan and billing details.';
const RETRY = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' };

/** The limits of a minute and of a day have the same status and text. The details tell the rest of a failure. */
const FAILURES: Readonly<
  Record<WireFailure, readonly [code: number, status: string, message: string, ...details: Data[]]>
> = {
  rateLimited: [
    429,
    'RESOURCE_EXHAUSTED',
    `${QUOTA_TEXT} Please retry in 22.1s.`,
    quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'),
    RETRY,
  ],
  overloaded: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  authentication: [
    400,
    'INVALID_ARGUMENT',
    'API key not valid. Please pass a valid API key.',
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
  ],
  quotaExceeded: [
    429,
    'RESOURCE_EXHAUSTED',
    QUOTA_TEXT,
    quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
    RETRY,
  ],
  contextTooLong: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
  ],
};

function quotaFailure(quotaId: string): Data {
  return { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] };
}

function errorOf(failure: WireFailure): Data {
  const [code, status, message, ...details] = FAILURES[failure];
  return { error: { code, status, message, ...(details.length > 0 && { details }) } };
}

function chunkOf(answer: Answer, parts: readonly Data[], isLast: boolean): Data {
  const sources = isLast ? partsOfType(answer, 'source') : [];
  const candidate = {
    index: 0,
    content: { role: 'model', parts },
    ...(isLast && { finishReason: FINISH_REASONS[answer.finish] }),
    ...(sources.length > 0 && { groundingMetadata: groundingOf(sources) }),
  };
  return {
    candidates: [candidate],
    usageMetadata: usageOf(answer.usage),
    modelVersion: 'model-1',
    responseId: answer.id,
  };
}

function groundingOf(sources: readonly PartOf<'source'>[]): Data {
  return {
    webSearchQueries: ['the question'],
    groundingChunks: sources.map(({ title, url }) => ({ web: { uri: url, title } })),
    groundingSupports: [],
  };
}

function usageOf({ input, output, cacheRead = 0, reasoning = 0 }: AnswerUsage): Data {
  return {
    promptTokenCount: input,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  };
}

/** Each chunk has one part. The last chunk has the reason of the end. */
function chunksOf(answer: Answer): readonly Data[] {
  const streamed = partsOf(answer).flatMap(splitText);
  const last = streamed.length - 1;
  return streamed.map((part, index) => chunkOf(answer, [part], index === last));
}

function splitText(part: Data): readonly Data[] {
  const { text } = part;
  return typeof text === 'string' && text !== ''
    ? pieces(text).map((piece) => ({ ...part, text: piece }))
    : [part];
}

function partsOf({ id, parts, signature: ofCalls = signatureOf(id) }: Answer): readonly Data[] {
  const signature = parts.find((part) => part.type === 'reasoning')?.signature;
  const firstCall = parts.find(({ type }) => type === 'call');
  const all = written<Data>(parts, {
    ...PARTS,
    call: (part) => (part === firstCall ? signed(PARTS.call(part), signature ?? ofCalls) : PARTS.call(part)),
  });
  return firstCall || signature === undefined ? all : [...all, ...signed([{ text: '' }], signature)];
}

function signed(parts: readonly Data[], thoughtSignature: string): readonly Data[] {
  return parts.map((part) => ({ ...part, thoughtSignature }));
}

/** Gemini signs the first call of an answer, also when it shows no reasoning. */
function signatureOf(id: string): string {
  return Buffer.from(`signature of ${id}`).toString('base64');
}

const PARTS = {
  text: ({ text }) => [{ text }],
  reasoning: ({ text }) => [{ text, thought: true }],
  call: (part) => [{ functionCall: { id: part.id, name: part.name, args: inputOf(part) } }],
  'provider-call': ({ query, result }) => [
    { executableCode: { language: 'PYTHON', code: `search(${JSON.stringify(query)})` } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: JSON.stringify(result) } },
  ],
  file: ({ mediaType, base64 }) => [{ inlineData: { mimeType: mediaType, data: base64 } }],
} satisfies PartWriters<Data>;
