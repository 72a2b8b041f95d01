import { encodeEventStreamFrame, encodeEventStreamMessage } from '@copilotkit/aimock';
import type { Answer, AnswerUsage, Wire, WireFailure } from '../wire.ts';
import { jsonResponse } from './event-stream.ts';
import { argumentsOf, inputOf, pieces, written, type PartWriters } from './parts.ts';

type Data = Readonly<Record<string, unknown>>;

/** The Converse protocol of Amazon Bedrock. */
export const bedrockWire: Wire = {
  whole: (answer) => jsonResponse(converseOf(answer), 200, requestId(answer)),
  streamed: (answer) => ({
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream', ...requestId(answer) },
    chunks: framesOf(answer),
  }),
  refused(failure) {
    const [status, type, message] = FAILURES[failure];
    return jsonResponse({ message }, status, { 'x-amzn-errortype': type });
  },
  failureEvent(failure) {
    const [, , message, exception] = FAILURES[failure];
    return exception && exceptionFrame(exception, message);
  },
};

/** The frame of an exception, such as `throttlingException`. */
function exceptionFrame(type: string, message: string): Uint8Array {
  return encodeEventStreamFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    Buffer.from(JSON.stringify({ message })),
  );
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'content_filtered',
} as const;

/** The exception inside a stream is missing for failures that are known before the stream begins. */
const FAILURES: Readonly<
  Record<WireFailure, readonly [status: number, type: string, message: string, exception?: string]>
> = {
  rateLimited: [
    429,
    'ThrottlingException',
    'Too many requests, please wait before trying again.',
    'throttlingException',
  ],
  overloaded: [
    503,
    'ServiceUnavailableException',
    'Bedrock is unable to process your request.',
    'serviceUnavailableException',
  ],
  authentication: [
    403,
    'UnrecognizedClientException',
    'The security token included in the request is invalid.',
  ],
  quotaExceeded: [
    400,
    'ServiceQuotaExceededException',
    'Your request exceeds the service quota for your account.',
  ],
  contextTooLong: [
    400,
    'ValidationException',
    'Input is too long for requested model.',
    'validationException',
  ],
};

function requestId({ id }: Answer): Readonly<Record<string, string>> {
  return { 'x-amzn-requestid': `request-${id}` };
}

function converseOf({ parts, finish, usage }: Answer): Data {
  return {
    output: { message: { role: 'assistant', content: written(parts, CONTENT) } },
    stopReason: STOP_REASONS[finish],
    usage: usageOf(usage),
    metrics: { latencyMs: 10 },
  };
}

/** Bedrock counts cached tokens beside the input, not in it. */
function usageOf({ input, output, cacheRead = 0, cacheWrite = 0 }: AnswerUsage): Data {
  return {
    inputTokens: input - cacheRead - cacheWrite,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  };
}

const CONTENT: PartWriters<Data> = {
  text: ({ text }) => [{ text }],
  reasoning: ({ text, signature }) => [{ reasoningContent: { reasoningText: { text, signature } } }],
  call: (part) => [{ toolUse: { toolUseId: part.id, name: part.name, input: inputOf(part) } }],
};

function framesOf({ parts, finish, usage }: Answer): readonly Uint8Array[] {
  return [
    frame('messageStart', { role: 'assistant' }),
    ...parts.flatMap((part, contentBlockIndex) => [
      ...written([part], EVENTS).map(([type, data]) => frame(type, { contentBlockIndex, ...data })),
      frame('contentBlockStop', { contentBlockIndex }),
    ]),
    frame('messageStop', { stopReason: STOP_REASONS[finish] }),
    frame('metadata', { usage: usageOf(usage), metrics: { latencyMs: 10 } }),
  ];
}

/** The events of a part, without the end. Only the blocks of calls have a start. */
const EVENTS: PartWriters<readonly [type: string, data: Data]> = {
  text: ({ text }) => pieces(text).map((piece) => delta({ text: piece })),
  reasoning: ({ text, signature }) => [
    ...pieces(text).map((piece) => delta({ reasoningContent: { text: piece } })),
    ...(signature === undefined ? [] : [delta({ reasoningContent: { signature } })]),
  ],
  call: (part) => [
    ['contentBlockStart', { start: { toolUse: { toolUseId: part.id, name: part.name } } }],
    ...pieces(argumentsOf(part)).map((piece) => delta({ toolUse: { input: piece } })),
  ],
};

function delta(data: Data): readonly [type: string, data: Data] {
  return ['contentBlockDelta', { delta: data }];
}

/** The frame of an event. Bedrock fills each payload up with `p`. */
function frame(type: string, payload: Data): Uint8Array {
  return encodeEventStreamMessage(type, { ...payload, p: 'abcdefgh' });
}
