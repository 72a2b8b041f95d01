import {
  insertAt,
  parameter,
  repeated,
  selectorOf,
  setAt,
  valueAt,
  valuesOf,
  withValue,
  firstPart,
  type Breaker,
  type Whole,
} from './breaker.ts';

/** Values that some pattern refuses. */
const ODD = ['a.b/c d', 'a.b', '', ' ', 'x'.repeat(300), 'x '];

function replaced(whole: Whole, value: unknown): ReturnType<Breaker> {
  const [first] = valuesOf(whole);
  return first ? withValue(whole.body, first, value) : inserted(whole, value);
}

/** Sets a value that the request has not yet. */
function inserted(whole: Whole, value: unknown): ReturnType<Breaker> {
  const of = selectorOf(whole);
  const insert = INSERTED[of];
  if (!insert) throw new Error(`The request has no ${of}.`);
  return insert(whole, value);
}

const INSERTED: Readonly<Record<string, (whole: Whole, value: unknown) => ReturnType<Breaker>>> = {
  'message.name': (whole, value) => setAt(whole.body, [...userPath(whole), 'name'], value),
  'message.content': (whole, value) => setAt(whole.body, [...userPath(whole), 'content'], value),
  'server-call.id': (whole, id) =>
    added(whole, { type: 'server_tool_use', id, name: 'web_search', input: {} }),
  'result.error': (whole, content) => {
    const { path, raw } = firstPart(whole, 'result');
    return setAt(whole.body, path, { ...raw, is_error: true, content });
  },
  'other.tool_name': (whole, tool_name) => added(whole, { type: 'tool_reference', tool_name }),
  'other.json': (whole, json) =>
    insertAt(whole.body, [...firstPart(whole, 'result').path, 'toolResult', 'content', 0], { json }),
  'file.url': (whole, url) => added(whole, { type: 'image', source: { type: 'url', url } }),
  'text.part': ({ body }, value) => setAt(body, ['messages', 1, 'content', 0, 'text'], value),
};

function userPath({ view }: Whole) {
  return view.turns.findLast(({ role }) => role === 'user')?.path ?? [];
}

/** Puts a block at the end of the last answer. */
function added({ view, body }: Whole, block: unknown): ReturnType<Breaker> {
  const path = view.turns.findLast(({ role }) => role === 'assistant')?.path ?? [];
  return insertAt(body, [...path, 'content', 99], block);
}

const KINDS = ['text', 5, null, [], {}];

function kindName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function oddLength(rule: Whole['rule'], value: unknown): unknown {
  const max = parameter(rule, 'max');
  if (typeof max === 'number') return 'x'.repeat(max + 1);
  return Array.isArray(value) ? [] : '';
}

export const valueBreakers: Readonly<Record<string, Breaker>> = {
  pattern: (whole) => {
    const expected = new RegExp(String(parameter(whole.rule, 'pattern')), 'u');
    return replaced(
      whole,
      ODD.find((value) => !expected.test(value)),
    );
  },
  length: (whole) => replaced(whole, oddLength(whole.rule, valuesOf(whole)[0]?.value)),
  oneOf: (whole) => replaced(whole, selectorOf(whole) === 'message.role' ? oddRole(whole) : 'odd/odd'),
  kind: (whole) => {
    const allowed = parameter(whole.rule, 'kinds') as readonly string[];
    return replaced(
      whole,
      KINDS.find((value) => !allowed.includes(kindName(value))),
    );
  },
  json: (whole) => replaced(whole, '{"a":'),
  base64: (whole) => replaced(whole, '%%%'),
  unique: (whole) => {
    const [first, second] = valuesOf(whole);
    if (!first) throw new Error('Nothing to repeat.');
    return second ? setAt(whole.body, second.path, first.value) : repeated(whole.body, first.part.path);
  },
  surrogates: (whole) => {
    const { path } = firstPart(whole, 'text', { role: 'user' });
    const [name = ''] = ['text', 'content'].filter(
      (each) => typeof valueAt(whole.body, [...path, each]) === 'string',
    );
    return setAt(whole.body, [...path, name], 'a\ud800b');
  },
};

/** A role that a provider does not know, of those that others know. */
function oddRole({ rule }: Whole): string {
  const values = parameter(rule, 'values') as readonly string[];
  return ['system', 'developer', 'odd'].find((role) => !values.includes(role)) ?? 'odd';
}
