import type { Answer, AnswerPart, AnswerUsage, Wire, WireFailure } from '../wire.ts';
import { dataEvent, eventStream, jsonResponse } from './event-stream.ts';
import { partsOfType, pieces } from './parts.ts';

type Data = Readonly<Record<string, unknown>>;

/**
 * The protocol of Gemini, which Vertex AI shares. The signature of the reasoning stands on the first call, as Gemini
 * sends it, or on an empty text at the end of an answer without calls.
 */
export const googleWire: Wire = {
  whole: (answer) => jsonResponse(chunkOf(answer, partsOf(answer), true)),
  streamed: (answer) => eventStream(chunksOf(answer).map(dataEvent)),
  refused: (failure) => jsonResponse(errorOf(failure), FAILURES[failure].code),
  failureEvent: (failure) => dataEvent(errorOf(failure)),
};

const FINISH_REASONS = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
} as const;

/** `details`: what Google states of the failure besides its message. */
interface Failure {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly Data[];
}

const QUOTA_TEXT = 'You exceeded your current quota, please check your plan and billing details.';

/** The limits of a minute and of a day have the same status and text. */
const FAILURES: Readonly<Record<WireFailure, Failure>> = {
  rateLimited: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: `${QUOTA_TEXT} Please retry in 22.1s.`,
    details: [
      quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'),
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' },
    ],
  },
  overloaded: {
    code: 503,
    status: 'UNAVAILABLE',
    message: 'The model is overloaded. Please try again later.',
  },
  authentication: {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: 'API key not valid. Please pass a valid API key.',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
  },
  quotaExceeded: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: QUOTA_TEXT,
    details: [
      quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' },
    ],
  },
  contextTooLong: {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
  },
};

function quotaFailure(quotaId: string): Data {
  return { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] };
}

function errorOf(failure: WireFailure): Data {
  return { error: FAILURES[failure] };
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

function groundingOf(sources: readonly Extract<AnswerPart, { type: 'source' }>[]): Data {
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

function partsOf({ id, parts }: Answer): readonly Data[] {
  const signature = parts.find((part) => part.type === 'reasoning')?.signature;
  const firstCall = parts.find(({ type }) => type === 'call');
  const written = parts.flatMap((part) =>
    part === firstCall ? signed(writePart(part), signature ?? signatureOf(id)) : writePart(part),
  );
  return firstCall || signature === undefined ? written : [...written, ...signed([{ text: '' }], signature)];
}

function signed(parts: readonly Data[], thoughtSignature: string): readonly Data[] {
  return parts.map((part) => ({ ...part, thoughtSignature }));
}

/** Gemini signs the first call of an answer, also when it shows no reasoning. */
function signatureOf(id: string): string {
  return Buffer.from(`signature of ${id}`).toString('base64');
}

function writePart(part: AnswerPart): readonly Data[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }];
    case 'reasoning':
      return [{ text: part.text, thought: true }];
    case 'call':
      return [{ functionCall: { id: part.id, name: part.name, args: part.input } }];
    case 'provider-call':
      return [
        { executableCode: { language: 'PYTHON', code: `search(${JSON.stringify(part.query)})` } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: JSON.stringify(part.result) } },
      ];
    case 'file':
      return [{ inlineData: { mimeType: part.mediaType, data: part.base64 } }];
    case 'source':
    default:
      return [];
  }
}
