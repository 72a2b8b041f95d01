import type { ProviderContent, ProviderReply, ProviderUsage } from '@holdfast/conformance';
import type { OpenAiProtocol } from '@holdfast/conformance/test';
import { understood } from './responses-request.ts';

type Answer = Extract<ProviderReply, { type: 'answer' }>;

const INCOMPLETE = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
  unknown: 'paused_by_moon',
} as const;

/** The Responses API of OpenAI, streamed. */
export const responsesApi: OpenAiProtocol = {
  understood: (body) => understood(body),
  replyTo: (_, reply) => reply,
  wholeResponse: responseOf,
  streamedContent,
  streamedResponse: (answer) => {
    const response = responseOf(answer);
    const type = answer.finishReason ? 'response.incomplete' : 'response.completed';
    return [...streamedContent(answer, answer), { type, response }];
  },
  interruptedEnd: ({ calls = [], openCall, usage }) => [
    ...(openCall ? callEvents([openCall], calls.length) : []),
    ...(usage ? [{ type: 'response.in_progress', response: startOf({ usage }) }] : []),
  ],
  overloaded: { type: 'error', code: 'server_error', message: 'Overloaded', param: null },
};

function withoutUsage(facts: Partial<Answer>): Partial<Answer> {
  const { usage: _, ...rest } = facts;
  return rest;
}

/** The members of a response before its content. */
function startOf({ responseId = 'resp_1', modelId = 'model-1', usage }: Partial<Answer>): object {
  const facts = { id: responseId, object: 'response', created_at: 1_780_000_000, model: modelId };
  return { ...facts, status: 'in_progress', output: [], ...(usage && { usage: usageOf(usage) }) };
}

function responseOf(answer: Answer): object {
  const { finishReason } = answer;
  const reason = finishReason && INCOMPLETE[finishReason];
  const end = reason ? { status: 'incomplete', incomplete_details: { reason } } : { status: 'completed' };
  return { ...startOf(answer), ...end, output: itemsOf(answer) };
}

function usageOf({ inputTokens, outputTokens, ...details }: ProviderUsage): object {
  const { cacheReadTokens = 0, reasoningTokens = 0 } = details;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

function itemsOf({ reasoning, text, calls = [] }: ProviderContent): readonly object[] {
  const summary = [{ type: 'summary_text', text: reasoning }];
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'sealed' }]),
    ...(text === undefined ? [] : [{ type: 'message', id: 'msg_1', role: 'assistant', content }]),
    ...calls.map((call, at) => itemOf(call, at)),
  ];
}

type Call = NonNullable<ProviderContent['calls']>[number];

function itemOf({ id, name, arguments: text }: Call, at: number): object {
  return { type: 'function_call', id: `fc_${at}`, call_id: id, name, arguments: text };
}

function streamedContent(
  { reasoning = '', text = '', calls = [] }: ProviderContent,
  facts: Partial<Answer> = {},
): readonly object[] {
  return [
    { type: 'response.created', response: startOf(withoutUsage(facts)) },
    ...piecesOf(reasoning).map((delta) => {
      return { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', delta };
    }),
    ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta })),
    ...callEvents(calls, 0),
  ];
}

/** Returns the events of calls: first the names of all calls, then their arguments by turns. */
function callEvents(calls: readonly Call[], from: number): readonly object[] {
  const starts = calls.map((call, at) => {
    return { type: 'response.output_item.added', item: itemOf({ ...call, arguments: '' }, at + from) };
  });
  const halves = [0, 1].flatMap((half) =>
    calls.map(({ arguments: text }, at) => {
      const middle = Math.ceil(text.length / 2);
      const delta = half === 0 ? text.slice(0, middle) : text.slice(middle);
      return { type: 'response.function_call_arguments.delta', item_id: `fc_${at + from}`, delta };
    }),
  );
  return [...starts, ...halves];
}

/** Returns a text in at most 20 pieces. */
function piecesOf(text: string): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / 20));
  return text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
}
