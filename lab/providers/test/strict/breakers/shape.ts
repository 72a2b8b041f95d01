import type { Members } from '../../../src/strict/view.ts';
import { PDF, PNG } from '../bases/index.ts';
import {
  firstPart,
  insertAt,
  parameter,
  removeAt,
  repeated,
  selectorOf,
  scopeOf,
  setAt,
  valuesOf,
  valueAt,
  type Breaker,
  type Whole,
} from './breaker.ts';

/** Puts something into the request that a rule forbids. */
const FORBIDDEN: Readonly<Record<string, Breaker>> = {
  'message.reasoning_content': (whole) => setOnAnswer(whole, 'reasoning_content', 'Hm.'),
  'message.reasoning': (whole) => setOnAnswer(whole, 'reasoning', 'Hm.'),
  'call.id': (whole) => setAt(whole.body, [...firstPart(whole, 'call').path, 'functionCall', 'id'], 'a'),
  'result.id': (whole) =>
    setAt(whole.body, [...firstPart(whole, 'result').path, 'functionResponse', 'id'], 'a'),
  'result.parts': (whole) =>
    setAt(
      whole.body,
      [...firstPart(whole, 'result').path, 'functionResponse', 'parts'],
      [{ inlineData: { mimeType: 'image/png', data: PNG } }],
    ),
  empty: (whole) => insertAt(whole.body, ['contents', 0, 'parts', 0], {}),
  reasoning: (whole) => {
    const block =
      whole.profile.wire.name === 'Converse'
        ? { reasoningContent: { reasoningText: { text: 'Hm.' } } }
        : { type: 'thinking', thinking: 'Hm.', signature: '' };
    return insertAt(whole.body, [...answerPath(whole), 'content', 0], block);
  },
  file: (whole) => withFile(whole, 'image'),
  'file:image': (whole) => withFile(whole, 'image'),
  'file:document': (whole) => withFile(whole, 'document'),
};

function setOnAnswer(whole: Whole, name: string, value: unknown): Members {
  return setAt(whole.body, [...answerPath(whole), name], value);
}

function answerPath({ view }: Whole) {
  return view.turns.findLast(({ role }) => role === 'assistant')?.path ?? [];
}

/** Puts a file into a message of the role that the rule names, or of the user. */
function withFile(whole: Whole, kind: 'image' | 'document'): Members {
  const { role = 'user' } = scopeOf(whole);
  const path = whole.view.turns.findLast((turn) => turn.role === role)?.path ?? [];
  const isConverse = whole.profile.wire.name === 'Converse';
  const image = isConverse
    ? { image: { format: 'png', source: { bytes: PNG } } }
    : { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
  const document = {
    type: 'file',
    file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  };
  return setAt(whole.body, [...path, 'content'], [kind === 'image' ? image : document]);
}

/** Marks of the cache, as many as `count`, where each provider takes them. */
function marked(whole: Whole, count: number): Members {
  const mark = { type: 'ephemeral' };
  if (whole.profile.wire.name !== 'Messages') {
    const text = { type: 'text', text: 'a', cache_control: mark };
    return setAt(
      whole.body,
      ['messages', 1, 'content'],
      Array.from({ length: count }, () => text),
    );
  }
  const tool = { ...(valueAt(whole.body, ['tools', 0]) as object), cache_control: mark };
  return setAt(
    whole.body,
    ['tools'],
    Array.from({ length: count }, (_, index) => ({ ...tool, name: `tool${index}` })),
  );
}

/** A choice of tools as each provider writes it. */
function choice(whole: Whole): Members {
  const isForced = (parameter(whole.rule, 'allowed') as readonly string[]).length > 0;
  switch (whole.profile.wire.name) {
    case 'Messages':
      return { ...whole.body, tool_choice: { type: 'any' } };
    case 'Converse':
      return {
        ...whole.body,
        toolConfig: { ...(whole.body['toolConfig'] as object), toolChoice: { tool: { name: 'weather' } } },
      };
    default:
      return { ...whole.body, tool_choice: isForced ? 'required' : 'auto' };
  }
}

function withoutTools({ body }: Whole): Members {
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => name !== 'tools' && name !== 'toolConfig'),
  );
}

export const shapeBreakers: Readonly<Record<string, Breaker>> = {
  count: (whole) => {
    const max = Number(parameter(whole.rule, 'max'));
    const of = selectorOf(whole);
    if (of.includes('mark')) return marked(whole, max + 1);
    return repeated(whole.body, firstPart(whole, of, scopeOf(whole)).path, max + 1);
  },
  forbidden: (whole) => {
    const of = selectorOf(whole);
    const insert = FORBIDDEN[of];
    if (!insert) throw new Error(`Nothing to forbid: ${of}.`);
    return insert(whole);
  },
  required: (whole) => {
    const [first] = valuesOf(whole);
    if (!first) throw new Error('Nothing to remove.');
    return removeAt(whole.body, first.part.type === 'message' ? first.path : first.part.path);
  },
  members: (whole) => {
    const { path } = firstPart(whole, selectorOf(whole), scopeOf(whole));
    return setAt(whole.body, [...path, 'strange'], 1);
  },
  declared: (whole) => {
    const [first] = valuesOf(whole);
    return first ? setAt(whole.body, first.path, 'unknown') : whole.body;
  },
  toolChoice: choice,
  toolsWithCalls: withoutTools,
  bodyBytes: ({ rule, body }) => ({ ...body, padding: 'x'.repeat(Number(parameter(rule, 'max'))) }),
  bodyList: ({ rule, body }) => setAt(body, parameter(rule, 'path') as readonly string[], []),
  noNeighbours: (whole) => {
    const { path } = firstPart(whole, 'file:document');
    const next = [...path.slice(0, -1), Number(path.at(-1)) + 1];
    return insertAt(whole.body, next, { cachePoint: { type: 'default' } });
  },
  unmarked: (whole) => {
    const { path } = firstPart(whole, selectorOf(whole));
    const body = setAt(whole.body, [...path, 'cache_control'], { type: 'ephemeral' });
    return parameter(whole.rule, 'empty') === true ? setAt(body, [...path, 'text'], '') : body;
  },
  toolsUnmarked: ({ body }) =>
    insertAt(body, ['toolConfig', 'tools', 0], { cachePoint: { type: 'default' } }),
};
