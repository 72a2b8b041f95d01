import type { Answer, AnswerUsage, Wire, WireFailure } from '../wire.ts';
import { eventStream, jsonResponse, namedEvent } from './event-stream.ts';
import { argumentsOf, partsOfType, pieces, written } from './parts.ts';

type Data = Readonly<Record<string, unknown>>;
type Event = Data & { readonly type: string };

/** The chat protocol of Cohere, version 2. It reports neither cached nor reasoning tokens, and no failure inside a stream. */
export const cohereWire: Wire = {
  whole: (answer) => jsonResponse(responseOf(answer)),
  streamed: (answer) => eventStream(eventsOf(answer).map(namedEvent)),
  refused(failure) {
    const [status, message] = FAILURES[failure];
    return jsonResponse({ id: 'request-1', message }, status);
  },
  failureEvent: () => undefined,
};

const FINISH_REASONS = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  'content-filter': 'ERROR_TOXIC',
} as const;

const FAILURES: Readonly<Record<WireFailure, readonly [status: number, message: string]>> = {
  rateLimited: [429, 'You are using a Trial key, which is limited to 20 API calls / minute.'],
  overloaded: [503, 'The service is temporarily unavailable, please try again later.'],
  authentication: [401, 'invalid api token'],
  quotaExceeded: [402, 'Please add or update your payment method to continue.'],
  contextTooLong: [400, 'too many tokens: total number of tokens in the prompt cannot exceed 128000.'],
};

function responseOf(answer: Answer): Data {
  const calls = partsOfType(answer, 'call').map((call) => callOf(call.id, call.name, argumentsOf(call)));
  return {
    id: answer.id,
    generation_id: answer.id,
    finish_reason: FINISH_REASONS[answer.finish],
    message: {
      role: 'assistant',
      content: contentOf(answer),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    usage: usageOf(answer.usage),
  };
}

function contentOf({ parts }: Answer): readonly Content[] {
  return written<Content>(parts, {
    text: ({ text }) => [{ type: 'text', text }],
    reasoning: ({ text }) => [{ type: 'thinking', thinking: text }],
  });
}

type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string };

function callOf(id: string, name: string, args: string): Data {
  return { id, type: 'function', function: { name, arguments: args } };
}

function usageOf({ input, output }: AnswerUsage): Data {
  const tokens = { input_tokens: input, output_tokens: output };
  return { billed_units: tokens, tokens };
}

function eventsOf(answer: Answer): readonly Event[] {
  const contents = contentOf(answer);
  return [
    {
      type: 'message-start',
      id: answer.id,
      delta: { message: { role: 'assistant', content: [], tool_calls: [] } },
    },
    ...contents.flatMap(contentEvents),
    ...partsOfType(answer, 'call').flatMap((call, index): readonly Event[] => [
      messageEvent('tool-call-start', contents.length + index, {
        tool_calls: callOf(call.id, call.name, ''),
      }),
      ...pieces(argumentsOf(call)).map((piece) =>
        messageEvent('tool-call-delta', contents.length + index, {
          tool_calls: { function: { arguments: piece } },
        }),
      ),
      { type: 'tool-call-end', index: contents.length + index },
    ]),
    {
      type: 'message-end',
      delta: { finish_reason: FINISH_REASONS[answer.finish], usage: usageOf(answer.usage) },
    },
  ];
}

function contentEvents(content: Content, index: number): readonly Event[] {
  const empty = content.type === 'text' ? { ...content, text: '' } : { ...content, thinking: '' };
  const deltas =
    content.type === 'text'
      ? pieces(content.text).map((text) => ({ text }))
      : pieces(content.thinking).map((thinking) => ({ thinking }));
  return [
    messageEvent('content-start', index, { content: empty }),
    ...deltas.map((delta) => messageEvent('content-delta', index, { content: delta })),
    { type: 'content-end', index },
  ];
}

function messageEvent(type: string, index: number, message: Data): Event {
  return { type, index, delta: { message } };
}
