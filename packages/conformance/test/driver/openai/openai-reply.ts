import type {
  ProviderCall,
  ProviderContent,
  ProviderReply,
  ProviderUsage,
  Refusal,
} from '@holdfast/conformance';

type Answer = Extract<ProviderReply, { type: 'answer' }>;

/** The status and the members of the error with which a server of OpenAI's protocol refuses a call. */
export const REFUSALS: Readonly<Record<Refusal, readonly [status: number, error: object]>> = {
  authentication: [401, { type: 'invalid_request_error', code: 'invalid_api_key' }],
  quotaExceeded: [429, { type: 'insufficient_quota', code: 'insufficient_quota' }],
  modelNotFound: [404, { type: 'invalid_request_error', code: 'model_not_found' }],
  invalidRequest: [400, { type: 'invalid_request_error', code: 'invalid_value' }],
  contextTooLong: [400, { type: 'invalid_request_error', code: 'context_length_exceeded' }],
  contentFiltered: [400, { type: 'invalid_request_error', code: 'content_filter' }],
  rateLimited: [429, { type: 'requests', code: 'rate_limit_exceeded' }],
  serverError: [500, { type: 'server_error', code: null }],
  unavailable: [503, { type: 'server_error', code: null }],
  overloaded: [529, { type: 'overloaded_error', code: null }],
};

const FINISH = { length: 'length', 'content-filter': 'content_filter', unknown: 'paused_by_moon' } as const;

/** The members of every object of a response. */
const envelopeOf = ({ responseId = 'chatcmpl-1', modelId = 'model-1' }: Partial<Answer>) => {
  return { id: responseId, created: 1_780_000_000, model: modelId };
};

function finishOf({ finishReason, calls = [] }: Answer): string {
  if (finishReason) return FINISH[finishReason];
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

/** Returns the usage in OpenAI's form. DeepSeek names the tokens of the cache `prompt_cache_hit_tokens`. */
function usageOf({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: ProviderUsage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cacheReadTokens !== undefined && {
      prompt_tokens_details: { cached_tokens: cacheReadTokens },
      prompt_cache_hit_tokens: cacheReadTokens,
    }),
    ...(reasoningTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    }),
  };
}

/** Returns a response in one piece. */
export function wholeResponse(answer: Answer): object {
  const { text, reasoning, calls = [], usage } = answer;
  const message = {
    role: 'assistant',
    content: text ?? null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: input }) => {
        return { id, type: 'function', function: { name, arguments: input } };
      }),
    }),
  };
  return {
    ...envelopeOf(answer),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
    ...(usage && { usage: usageOf(usage) }),
  };
}

/** Returns the events of a streamed response. */
export function streamedResponse(answer: Answer): readonly object[] {
  const envelope = envelopeOf(answer);
  return [
    ...streamedContent(answer, answer),
    chunk(envelope, {}, finishOf(answer)),
    ...(answer.usage ? [{ ...chunk(envelope), choices: [], usage: usageOf(answer.usage) }] : []),
  ];
}

/** Returns the events of the content of a response, without its end. */
export function streamedContent(
  { reasoning = '', text = '', calls = [] }: ProviderContent,
  ids: Partial<Answer> = {},
): readonly object[] {
  const envelope = envelopeOf(ids);
  const deltas = [
    { role: 'assistant' },
    ...piecesOf(reasoning).map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(text).map((piece) => ({ content: piece })),
    ...callDeltas(calls, 0),
  ];
  return deltas.map((delta) => chunk(envelope, delta));
}

/** Returns the events after the content and before the interruption. */
export function interruptedEnd({
  calls = [],
  openCall,
  usage,
}: Extract<ProviderReply, { type: 'interruption' }>): readonly object[] {
  const envelope = envelopeOf({});
  const open = openCall ? callDeltas([openCall], calls.length) : [];
  return [
    ...open.map((delta) => chunk(envelope, delta)),
    ...(usage ? [{ ...chunk(envelope), choices: [], usage: usageOf(usage) }] : []),
  ];
}

function chunk(envelope: object, delta: object = {}, finish: string | null = null): object {
  return {
    ...envelope,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

/** Returns the deltas of calls: first the names of all calls, then their arguments by turns. */
function callDeltas(calls: readonly ProviderCall[], from: number): readonly object[] {
  const starts = calls.map(({ id, name }, at) => {
    return callDelta(at + from, { id, type: 'function', function: { name, arguments: '' } });
  });
  const halves = [0, 1].flatMap((half) =>
    calls.map(({ arguments: text }, at) => {
      const middle = Math.ceil(text.length / 2);
      const piece = half === 0 ? text.slice(0, middle) : text.slice(middle);
      return callDelta(at + from, { function: { arguments: piece } });
    }),
  );
  return [...starts, ...halves];
}

const callDelta = (index: number, call: object): object => ({ tool_calls: [{ index, ...call }] });

/** Returns a text in at most 20 pieces. */
function piecesOf(text: string): readonly string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  const size = Math.ceil(words.length / 20);
  return words.length === 0
    ? []
    : Array.from({ length: Math.ceil(words.length / size) }, (_, at) =>
        words.slice(at * size, (at + 1) * size).join(''),
      );
}
