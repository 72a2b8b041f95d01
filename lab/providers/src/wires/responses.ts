import type { Answer, AnswerUsage, PartOf, Wire } from '../wire.ts';
import { eventStream, jsonResponse, namedEvent } from './event-stream.ts';
import { openAiFailure, refusedByOpenAi } from './openai-failures.ts';
import { argumentsOf, CREATED, pieces, sourcesAfter, written } from './parts.ts';
import { refusedByXai } from './vendor-failures.ts';

/** An item of the output of a response. */
type Item = Readonly<Record<string, unknown>> & { readonly type: string; readonly id: string };

/** An item with the events between its start and its end. `started`: the item as `response.output_item.added` has it. */
interface StreamedItem {
  readonly started: Item;
  readonly done: Item;
  readonly events: readonly Event[];
}

type Event = Readonly<Record<string, unknown>> & { readonly type: string };
/** The Responses protocol of OpenAI. */
export const responsesWire: Wire = {
  whole: (answer) => jsonResponse(responseOf(answer, outputOf(answer))),
  streamed: (answer) => eventStream(eventsOf(answer).map(namedEvent)),
  refused: refusedByOpenAi,
  failureEvent(failure) {
    const { message, code, param } = openAiFailure(failure);
    return namedEvent({ type: 'error', sequence_number: 9, code, message, param } as Event);
  },
};

/** The Responses protocol of xAI. */
export const xaiWire: Wire = { ...responsesWire, refused: refusedByXai };

const INCOMPLETE = { length: 'max_output_tokens', 'content-filter': 'content_filter' } as const;

function responseOf({ id, finish, usage }: Answer, output: readonly Item[]): object {
  const reason = finish === 'length' || finish === 'content-filter' ? INCOMPLETE[finish] : undefined;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: CREATED,
    model: 'model-1',
    status: reason ? 'incomplete' : 'completed',
    incomplete_details: reason ? { reason } : null,
    error: null,
    output,
    usage: usageOf(usage),
  };
}

function usageOf({ input, output, cacheRead = 0, reasoning = 0 }: AnswerUsage): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function eventsOf(answer: Answer): readonly Event[] {
  const items = itemsOf(answer);
  const created = { ...responseOf(answer, []), status: 'in_progress', usage: null, incomplete_details: null };
  const end = answer.finish in INCOMPLETE ? 'response.incomplete' : 'response.completed';
  const events: Event[] = [
    { type: 'response.created', response: created },
    { type: 'response.in_progress', response: created },
    ...items.flatMap(({ started, done, events: inside }, index) => [
      { type: 'response.output_item.added', output_index: index, item: started },
      ...inside.map((event) => ({ ...event, item_id: done.id, output_index: index })),
      { type: 'response.output_item.done', output_index: index, item: done },
    ]),
    { type: end, response: responseOf(answer, outputOf(answer)) },
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

/** The items of an answer. */
export function outputOf(answer: Answer): readonly Item[] {
  return itemsOf(answer).map(({ done }) => done);
}

function itemsOf({ id, parts }: Answer): readonly StreamedItem[] {
  return written<StreamedItem>(parts, {
    reasoning: (part, index) => [reasoningItem(`rs_${id}_${index}`, part)],
    text: ({ text }, index) => [messageItem(`msg_${id}_${index}`, text, sourcesAfter(parts, index))],
    call: (part, index) => [callItem(`fc_${id}_${index}`, part)],
    'provider-call': (part) => [searchItem(part)],
  });
}

function reasoningItem(id: string, { text, signature }: PartOf<'reasoning'>): StreamedItem {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  const item = { id, type: 'reasoning', status: 'completed', encrypted_content: signature ?? null };
  const at = { summary_index: 0 };
  return {
    started: { ...item, status: 'in_progress', summary: [] },
    done: { ...item, summary },
    events: summary.flatMap((part) => [
      { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
      ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, text },
      { type: 'response.reasoning_summary_part.done', ...at, part },
    ]),
  };
}

function messageItem(id: string, text: string, sources: readonly PartOf<'source'>[]): StreamedItem {
  const annotations = sources.map(({ title, url }) => ({
    type: 'url_citation',
    start_index: 0,
    end_index: text.length,
    title,
    url,
  }));
  const item = { id, type: 'message', role: 'assistant', status: 'completed' };
  const part = { type: 'output_text', text, annotations };
  const at = { content_index: 0 };
  return {
    started: { ...item, status: 'in_progress', content: [] },
    done: { ...item, content: [part] },
    events: [
      { type: 'response.content_part.added', ...at, part: { ...part, text: '', annotations: [] } },
      ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      ...annotations.map((annotation, annotation_index) => ({
        type: 'response.output_text.annotation.added',
        ...at,
        annotation_index,
        annotation,
      })),
      { type: 'response.output_text.done', ...at, text },
      { type: 'response.content_part.done', ...at, part },
    ],
  };
}

function callItem(id: string, call: PartOf<'call'>): StreamedItem {
  const { id: callId, name, caller } = call;
  const args = argumentsOf(call);
  const program = caller === undefined ? {} : { caller: { type: 'program', caller_id: caller } };
  const item = { id, type: 'function_call', call_id: callId, name, ...program };
  return {
    started: { ...item, status: 'in_progress', arguments: '' },
    done: { ...item, status: 'completed', arguments: args },
    events: [
      ...pieces(args).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: args },
    ],
  };
}

function searchItem({ id, query, result }: PartOf<'provider-call'>): StreamedItem {
  const item = { id: `ws_${id}`, type: 'web_search_call' };
  const action = { type: 'search', query, sources: [{ type: 'url', url: result.url }] };
  return {
    started: { ...item, status: 'in_progress' },
    done: { ...item, status: 'completed', action },
    events: [
      { type: 'response.web_search_call.in_progress' },
      { type: 'response.web_search_call.searching' },
      { type: 'response.web_search_call.completed' },
    ],
  };
}
