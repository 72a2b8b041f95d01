import type { Members } from '../../../src/strict/view.ts';
import { messagesPath } from '../bases/index.ts';
import {
  firstPart,
  insertAt,
  parameter,
  removeAt,
  repeated,
  setAt,
  type Breaker,
  type Whole,
} from './breaker.ts';

/** A message with a text, as a provider writes it. */
function message({ profile }: Whole, role: string): Members {
  switch (profile.wire.name) {
    case 'generateContent':
      return { role: role === 'assistant' ? 'model' : role, parts: [{ text: 'a' }] };
    case 'Converse':
      return { role, content: [{ text: 'a' }] };
    case 'Messages':
      return { role, content: [{ type: 'text', text: 'a' }] };
    case 'Gateway':
      return { role, content: role === 'system' ? 'a' : [{ type: 'text', text: 'a' }] };
    default:
      return { role, content: 'a', ...(role === 'tool' && { tool_call_id: 'call00001' }) };
  }
}

/** Puts a message at an index; from the end when it is negative. */
function put(whole: Whole, index: number, role: string): Members {
  return insertAt(whole.body, [messagesPath(whole.body), index], message(whole, role));
}

function indexOf({ view }: Whole, role: string): number {
  return view.turns.findIndex((turn) => turn.role === role);
}

const LAST = 99;

export const orderBreakers: Readonly<Record<string, Breaker>> = {
  firstRole: (whole) => put(whole, indexOf(whole, 'user'), 'assistant'),
  lastRole: (whole) => put(whole, LAST, 'assistant'),
  follows: (whole) => {
    const { rule } = whole;
    const [after = ''] = parameter(rule, 'notAfter') as readonly string[];
    const index = whole.view.turns.findLastIndex(({ role }) => role === after);
    return put(whole, index + 1, String(parameter(rule, 'role')));
  },
  alternates: (whole) => {
    const [role = 'user'] = parameter(whole.rule, 'roles') as readonly string[];
    const { turns } = whole.view;
    const turn = turns.findLast(
      (each) => each.role === role && each.parts.every(({ type }) => type !== 'call'),
    );
    return repeated(whole.body, turn?.path ?? []);
  },
  onlyFirst: (whole) => put(whole, LAST, 'system'),
  callsAfterUser: (whole) => put(whole, indexOf(whole, 'assistant'), 'assistant'),
  answered: (whole) => withoutPart(whole, 'result'),
  called: (whole) => withoutPart(whole, 'call'),
  answeredOnce: (whole) => repeated(whole.body, firstPart(whole, 'result').path),
  sameCount: (whole) => repeated(whole.body, firstPart(whole, 'result').path),
  resultsFirst: (whole) => {
    const { path } = firstPart(whole, 'result');
    return insertAt(
      whole.body,
      path,
      message(whole, 'user')[TEXTS[whole.profile.wire.name] ?? 'content']?.[0 as never],
    );
  },
  resultsAdjacent: (whole) => {
    const { path } = firstPart(whole, 'call');
    return insertAt(whole.body, [path[0] ?? '', Number(path[1]) + 1], message(whole, 'assistant'));
  },
  serverResults: (whole) => {
    const path = whole.view.turns.findLast(({ role }) => role === 'assistant')?.path ?? [];
    const block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
    return insertAt(whole.body, [...path, 'content', LAST], block);
  },
};

const TEXTS: Readonly<Record<string, string>> = { generateContent: 'parts' };

/** Gemini matches calls and results by id: a result gets another one. */
function withoutPart(whole: Whole, type: 'call' | 'result'): Members {
  const part = firstPart(whole, type);
  const { id } = part.at;
  return whole.profile.wire.name === 'generateContent' && id
    ? setAt(whole.body, id.path, 'other')
    : removeAt(whole.body, part.path);
}
