import type { Answer, AnswerPart, AnswerUsage, Wire, WireFailure } from '../wire.ts';
import { eventFrame } from './event-frames.ts';
import { jsonResponse } from './event-stream.ts';
import { pieces } from './parts.ts';

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
    const { status, type, message } = FAILURES[failure];
    return jsonResponse({ message }, status, { 'x-amzn-errortype': type });
  },
  failureEvent(failure) {
    const { event, message } = FAILURES[failure];
    return event === undefined ? undefined : exceptionFrame(event, message);
  },
};

/** The frame of an exception, such as `throttlingException`. */
function exceptionFrame(type: string, message: string): Uint8Array {
  return eventFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message },
  );
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'content_filtered',
} as const;

/** `event`: the exception inside a stream. The stream has none for failures that are known before it begins. */
interface Failure {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly event?: string;
}

const FAILURES: Readonly<Record<WireFailure, Failure>> = {
  rateLimited: {
    status: 429,
    type: 'ThrottlingException',
    message: 'Too many requests, please wait before trying again.',
    event: 'throttlingException',
  },
  overloaded: {
    status: 503,
    type: 'ServiceUnavailableException',
    message: 'Bedrock is unable to process your request.',
    event: 'serviceUnavailableException',
  },
  authentication: {
    status: 403,
    type: 'UnrecognizedClientException',
    message: 'The security token included in the request is invalid.',
  },
  quotaExceeded: {
    status: 400,
    type: 'ServiceQuotaExceededException',
    message: 'Your request exceeds the service quota for your account.',
  },
  contextTooLong: {
    status: 400,
    type: 'ValidationException',
    message: 'Input is too long for requested model.',
    event: 'validationException',
  },
};

function requestId({ id }: Answer): Readonly<Record<string, string>> {
  return { 'x-amzn-requestid': `request-${id}` };
}

function converseOf({ parts, finish, usage }: Answer): Data {
  return {
    output: { message: { role: 'assistant', content: parts.flatMap(contentOf) } },
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

function contentOf(part: AnswerPart): readonly Data[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }];
    case 'reasoning':
      return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }];
    case 'call':
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.input } }];
    case 'provider-call':
    case 'source':
    case 'file':
    default:
      return [];
  }
}

function framesOf({ parts, finish, usage }: Answer): readonly Uint8Array[] {
  return [
    frame('messageStart', { role: 'assistant' }),
    ...parts.flatMap((part, contentBlockIndex) => [
      ...blockEvents(part).map(([type, data]) => frame(type, { contentBlockIndex, ...data })),
      frame('contentBlockStop', { contentBlockIndex }),
    ]),
    frame('messageStop', { stopReason: STOP_REASONS[finish] }),
    frame('metadata', { usage: usageOf(usage), metrics: { latencyMs: 10 } }),
  ];
}

/** The events of a part, without the end. Only the blocks of calls have a start. */
function blockEvents(part: AnswerPart): readonly (readonly [type: string, data: Data])[] {
  switch (part.type) {
    case 'text':
      return pieces(part.text).map((text) => delta({ text }));
    case 'reasoning':
      return [
        ...pieces(part.text).map((text) => delta({ reasoningContent: { text } })),
        ...(part.signature === undefined ? [] : [delta({ reasoningContent: { signature: part.signature } })]),
      ];
    case 'call':
      return [
        ['contentBlockStart', { start: { toolUse: { toolUseId: part.id, name: part.name } } }],
        ...pieces(JSON.stringify(part.input)).map((input) => delta({ toolUse: { input } })),
      ];
    case 'provider-call':
    case 'source':
    case 'file':
    default:
      return [];
  }
}

function delta(data: Data): readonly [type: string, data: Data] {
  return ['contentBlockDelta', { delta: data }];
}

/** The frame of an event. Bedrock fills each payload up with `p`. */
function frame(type: string, payload: Data): Uint8Array {
  return eventFrame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    { ...payload, p: 'abcdefgh' },
  );
}
