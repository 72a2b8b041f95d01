import type { Answer, AnswerUsage, PartOf, Wire, WireFailure, WireResponse } from '../wire.ts';
import { dataEvent, eventStream, jsonResponse } from './event-stream.ts';
import { openAiFailure, refusedByOpenAi } from './openai-failures.ts';
import { argumentsOf, CREATED, partsOfType, pieces } from './parts.ts';

type Members = Readonly<Record<string, unknown>>;
/** The differences between the servers that speak Chat Completions. */
export interface ChatDialect {
  /** The members of a message, or of a delta, for a piece of reasoning. `signature` comes with the last piece. */
  readonly reasoning?: (text: string, signature: string | undefined) => Members;
  /** The members of a message for its text; default `content`. */
  readonly text?: (text: string) => Members;
  /** The members of a message, or of a delta, for the files that the model made. */
  readonly files?: (files: readonly PartOf<'file'>[]) => Members;
  readonly usage: (usage: AnswerUsage) => Members;
  /** The last chunks of a stream, from the finish reason to the usage. Default: OpenAI's two chunks. */
  readonly end?: (chunk: Members, finishReason: string, usage: Members) => readonly Members[];
  /** True when a call arrives in one chunk. */
  readonly hasWholeCalls?: boolean;
  readonly refused?: (failure: WireFailure) => WireResponse;
  /** The failure event. `null`: the protocol has none. */
  readonly failureEvent?: ((failure: WireFailure) => object) | null;
}

/** The Chat Completions protocol, in a dialect. */
export function chatWire(dialect: ChatDialect): Wire {
  const { refused = refusedByOpenAi, failureEvent = defaultFailure } = dialect;
  return {
    whole: (answer) => jsonResponse(completionOf(answer, dialect)),
    streamed: (answer) => eventStream([...chunksOf(answer, dialect).map(dataEvent), dataEvent('[DONE]')]),
    refused,
    failureEvent: (failure) => (failureEvent ? dataEvent(failureEvent(failure)) : undefined),
  };
}

const FINISH = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
} as const;

function defaultFailure(failure: WireFailure): object {
  return { error: openAiFailure(failure) };
}

function completionOf(answer: Answer, dialect: ChatDialect): Members {
  const calls = partsOfType(answer, 'call').map((call) => callOf(call, argumentsOf(call)));
  const message = {
    role: 'assistant',
    content: null,
    ...assign(partsOfType(answer, 'reasoning').map((part) => dialect.reasoning?.(part.text, part.signature))),
    ...assign(partsOfType(answer, 'text').map(({ text }) => textOf(text, dialect))),
    ...mixedContent(answer, dialect),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...annotationsOf(answer),
    ...filesOf(answer, dialect),
  };
  return {
    ...frameOf(answer, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[answer.finish] }],
    usage: dialect.usage(answer.usage),
  };
}

function chunksOf(answer: Answer, dialect: ChatDialect): readonly Members[] {
  const frame = frameOf(answer, 'chat.completion.chunk');
  const chunk = (delta: Members): Members => ({ ...frame, choices: [choiceOf(delta, null)] });
  const { end = endOfOpenAi } = dialect;
  return [
    chunk({ role: 'assistant', content: '' }),
    ...partsOfType(answer, 'reasoning')
      .flatMap((part) => reasoningDeltas(part, dialect))
      .map(chunk),
    ...partsOfType(answer, 'text')
      .flatMap(({ text }) => pieces(text).map((piece) => textOf(piece, dialect)))
      .map(chunk),
    ...partsOfType(answer, 'call')
      .flatMap((call, index) => callDeltas(call, index, dialect))
      .map(chunk),
    ...[annotationsOf(answer), filesOf(answer, dialect)]
      .filter((delta) => Object.keys(delta).length > 0)
      .map(chunk),
    ...end(frame, FINISH[answer.finish], dialect.usage(answer.usage)),
  ];
}

function frameOf({ id }: Answer, object: string): Members {
  return { id: `chatcmpl-${id}`, object, created: CREATED, model: 'model-1', system_fingerprint: 'fp_1' };
}

/** The choice of a chunk. */
export function choiceOf(delta: Members, finishReason: string | null): Members {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason };
}

function endOfOpenAi(frame: Members, finishReason: string, usage: Members): readonly Members[] {
  return [
    { ...frame, choices: [choiceOf({}, finishReason)] },
    { ...frame, choices: [], usage },
  ];
}

function textOf(text: string, { text: write = (content) => ({ content }) }: ChatDialect): Members {
  return write(text);
}

/** Joins the contents of a message whose dialect writes reasoning and text into one list. */
function mixedContent(answer: Answer, dialect: ChatDialect): Members {
  const contents = [
    ...partsOfType(answer, 'reasoning').map(
      (part) => dialect.reasoning?.(part.text, part.signature)['content'],
    ),
    ...partsOfType(answer, 'text').map(({ text }) => textOf(text, dialect)['content']),
  ];
  return contents.some(Array.isArray) ? { content: contents.flat() } : {};
}

function reasoningDeltas(
  { text, signature }: PartOf<'reasoning'>,
  { reasoning }: ChatDialect,
): readonly Members[] {
  if (!reasoning) return [];
  const texts = pieces(text);
  return texts.map((piece, index) => reasoning(piece, index === texts.length - 1 ? signature : undefined));
}

function callDeltas(call: PartOf<'call'>, index: number, { hasWholeCalls }: ChatDialect): readonly Members[] {
  const args = argumentsOf(call);
  if (hasWholeCalls) return [{ tool_calls: [{ index, ...callOf(call, args) }] }];
  return [
    { tool_calls: [{ index, ...callOf(call, '') }] },
    ...pieces(args).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function callOf({ id, name }: PartOf<'call'>, args: string): Members {
  return { id, type: 'function', function: { name, arguments: args } };
}

function annotationsOf(answer: Answer): Members {
  const annotations = partsOfType(answer, 'source').map(({ title, url }) => ({
    type: 'url_citation',
    url_citation: { start_index: 0, end_index: 1, title, url },
  }));
  return annotations.length > 0 ? { annotations } : {};
}

function filesOf(answer: Answer, { files }: ChatDialect): Members {
  const made = partsOfType(answer, 'file');
  return made.length > 0 && files ? files(made) : {};
}

function assign(members: readonly (Members | undefined)[]): Members {
  return Object.assign({}, ...members) as Members;
}
