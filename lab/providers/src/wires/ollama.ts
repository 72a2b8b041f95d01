import type { Answer, PartOf, Wire, WireFailure } from '../wire.ts';
import { jsonResponse } from './event-stream.ts';
import { inputOf, partsOfType, pieces, textOfParts, written, type PartWriters } from './parts.ts';

type Data = Readonly<Record<string, unknown>>;

/** The chat protocol of Ollama: lines of JSON. It knows a finish by `stop` or `length` only. */
export const ollamaWire: Wire = {
  whole: (answer) => jsonResponse(wholeOf(answer)),
  streamed: (answer) => ({
    status: 200,
    headers: { 'content-type': 'application/x-ndjson' },
    chunks: linesOf(answer).map(lineOf),
  }),
  refused(failure) {
    const [status, error] = FAILURES[failure];
    return jsonResponse({ error }, status);
  },
  failureEvent: (failure) => lineOf({ error: FAILURES[failure][1] }),
};

const FAILURES: Readonly<Record<WireFailure, readonly [status: number, message: string]>> = {
  rateLimited: [429, "you've reached your hourly usage limit, please wait or upgrade to continue"],
  overloaded: [503, 'server busy, please try again. maximum pending requests exceeded'],
  authentication: [401, 'unauthorized'],
  quotaExceeded: [429, 'you (ann) have reached your weekly usage limit, upgrade for higher limits'],
  contextTooLong: [400, 'the input length exceeds the context length'],
};

function lineOf(data: Data): string {
  return `${JSON.stringify(data)}\n`;
}

function message(content: string, more: Data = {}): Data {
  return { role: 'assistant', content, ...more };
}

function frameOf(content: Data, more: Data = { done: false }): Data {
  return { model: 'model-1', created_at: '2026-01-01T00:00:00.000Z', message: content, ...more };
}

/** The members with which an answer ends. */
function endOf({ finish, usage }: Answer): Data {
  return {
    done: true,
    done_reason: finish === 'length' ? 'length' : 'stop',
    prompt_eval_count: usage.input,
    eval_count: usage.output,
    total_duration: 1_000,
  };
}

function wholeOf(answer: Answer): Data {
  const [text, thinking] = [textOfParts(answer, 'text'), textOfParts(answer, 'reasoning')];
  const calls = partsOfType(answer, 'call').map(callOf);
  const more = { ...(thinking && { thinking }), ...(calls.length > 0 && { tool_calls: calls }) };
  return frameOf(message(text, more), endOf(answer));
}

function linesOf(answer: Answer): readonly Data[] {
  return [
    ...written(answer.parts, MESSAGES).map((each) => frameOf(each)),
    frameOf(message(''), endOf(answer)),
  ];
}

const MESSAGES: PartWriters<Data> = {
  text: ({ text }) => pieces(text).map((piece) => message(piece)),
  reasoning: ({ text }) => pieces(text).map((thinking) => message('', { thinking })),
  call: (part) => [message('', { tool_calls: [callOf(part)] })],
};

function callOf(call: PartOf<'call'>): Data {
  return { id: call.id, function: { name: call.name, arguments: inputOf(call) } };
}
