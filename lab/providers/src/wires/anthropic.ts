import type { Answer, AnswerUsage, PartOf, Wire, WireFailure } from '../wire.ts';
import { eventStream, jsonResponse, namedEvent } from './event-stream.ts';
import { argumentsOf, inputOf, pieces, sourcesAfter, written } from './parts.ts';

type Data = Readonly<Record<string, unknown>>;
/** A content block, as a stream begins it, with its deltas, and as the whole answer has it. */
interface Block {
  readonly started: Data;
  readonly deltas: readonly Data[];
  readonly done: Data;
}

/** The Messages protocol of Anthropic. A reasoning part without text is redacted thinking. */
export const anthropicWire: Wire = {
  whole: (answer) => jsonResponse(messageOf(answer)),
  streamed: (answer) => eventStream(eventsOf(answer).map(namedEvent)),
  refused: (failure) => jsonResponse(errorOf(failure), FAILURES[failure][0]),
  failureEvent: (failure) => namedEvent(errorOf(failure)),
};

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
} as const;

const FAILURES: Readonly<Record<WireFailure, readonly [status: number, type: string, message: string]>> = {
  rateLimited: [429, 'rate_limit_error', 'This request would exceed your rate limit.'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
  authentication: [401, 'authentication_error', 'invalid x-api-key'],
  quotaExceeded: [
    400,
    'invalid_request_error',
    'You have reached your specified API usage limits. You will regain access on 2026-02-01 at 00:00 UTC.',
  ],
  contextTooLong: [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum'],
};

function errorOf(failure: WireFailure) {
  const [, type, message] = FAILURES[failure];
  return { type: 'error', error: { type, message }, request_id: 'req_1' };
}

function messageOf(answer: Answer): Data {
  return {
    ...messageStart(answer),
    content: blocksOf(answer).map(({ done }) => done),
    stop_reason: STOP_REASONS[answer.finish],
    usage: usageOf(answer.usage),
  };
}

function messageStart({ id }: Answer): Data {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: 'model-1',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

/** Anthropic counts cached tokens beside the input, not in it. */
function usageOf({ input, output, cacheRead = 0, cacheWrite = 0, reasoning }: AnswerUsage): Data {
  return {
    input_tokens: input - cacheRead - cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: output,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function eventsOf(answer: Answer): readonly (Data & { readonly type: string })[] {
  const usage = usageOf({ ...answer.usage, output: 1 });
  return [
    { type: 'message_start', message: { ...messageStart(answer), usage } },
    { type: 'ping' },
    ...blocksOf(answer).flatMap(({ started, deltas }, index) => [
      { type: 'content_block_start', index, content_block: started },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[answer.finish], stop_sequence: null },
      usage: usageOf(answer.usage),
    },
    { type: 'message_stop' },
  ];
}

function blocksOf({ parts }: Answer): readonly Block[] {
  return written<Block>(parts, {
    text: ({ text }, index) => [textBlock(text, sourcesAfter(parts, index))],
    reasoning: (part) => [part.text === '' ? redactedBlock(part) : thinkingBlock(part)],
    call: (part) => [callBlock('tool_use', part)],
    'provider-call': searchBlocks,
  });
}

function textBlock(text: string, sources: readonly PartOf<'source'>[]): Block {
  const citations = sources.map(({ title, url }) => ({
    type: 'web_search_result_location',
    cited_text: text,
    url,
    title,
    encrypted_index: 'aW5kZXg=',
  }));
  const cited = citations.length > 0 ? { citations } : {};
  return {
    started: { type: 'text', text: '', ...(citations.length > 0 && { citations: [] }) },
    deltas: [
      ...citations.map((citation) => ({ type: 'citations_delta', citation })),
      ...pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
    ],
    done: { type: 'text', text, ...cited },
  };
}

function thinkingBlock({ text, signature = '' }: PartOf<'reasoning'>): Block {
  return {
    started: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces(text).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature },
    ],
    done: { type: 'thinking', thinking: text, signature },
  };
}

function redactedBlock({ signature = '' }: PartOf<'reasoning'>): Block {
  return completeBlock({ type: 'redacted_thinking', data: signature });
}

function callBlock(type: 'tool_use' | 'server_tool_use', call: PartOf<'call'>): Block {
  const { id, name } = call;
  return {
    started: { type, id, name, input: {} },
    deltas: ['', ...pieces(argumentsOf(call))].map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
    done: { type, id, name, input: inputOf(call) },
  };
}

function searchBlocks({ id, query, result: { title, url } }: PartOf<'provider-call'>): readonly Block[] {
  const callId = `srvtoolu_${id}`;
  const found = { type: 'web_search_result', url, title, encrypted_content: 'Y29udGVudA==', page_age: null };
  return [
    callBlock('server_tool_use', { type: 'call', id: callId, name: 'web_search', input: { query } }),
    completeBlock({ type: 'web_search_tool_result', tool_use_id: callId, content: [found] }),
  ];
}

/** A block that arrives whole also in a stream. */
function completeBlock(block: Data): Block {
  return { started: block, deltas: [], done: block };
}
