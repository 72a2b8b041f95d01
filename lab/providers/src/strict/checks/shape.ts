import { z } from 'zod';
import { membersOf, partsOf, type View } from '../view.ts';
import { check, scope, select, selector, selectParts, shown, turnsOf, type Violation } from './check.ts';

/** The request, or each message, has at least `min` and at most `max` of these parts or values. */
export const count = check(
  z.strictObject({
    ...scope,
    of: z.union([selector, z.array(selector)]),
    min: z.number().optional(),
    max: z.number().optional(),
    per: z.enum(['request', 'turn']).optional(),
  }),
  (view, { of, min = 0, max = Infinity, per = 'request', ...within }) => {
    const found = [of].flat().flatMap((name) => turnsOfEach(view, name, within));
    const groups =
      per === 'request'
        ? [{ path: [], count: found.length }]
        : turnsOf(view, within).map(({ turn, index }) => ({
            path: turn.path,
            count: found.filter((turn) => turn === index).length,
          }));
    return groups
      .filter((group) => group.count < min || group.count > max)
      .map((group) => ({ path: group.path, fill: { count: group.count, max, min } }));
  },
);

type Within = Parameters<typeof selectParts>[2];

/** The turn of each occurrence. */
function turnsOfEach(view: View, of: string, within: Within): readonly number[] {
  const found: readonly { readonly turn: number }[] = of.includes('.')
    ? select(view, of, within)
    : selectParts(view, of, within);
  return found.map(({ turn }) => turn);
}

/** No such part or value is in the request. */
export const forbidden = check(z.strictObject({ ...scope, of: selector }), (view, { of, ...within }) =>
  of.includes('.')
    ? select(view, of, within)
        .filter(({ value }) => value !== undefined && value !== null)
        .map(({ path }) => ({ path }))
    : selectParts(view, of, within).map(({ part }) => ({ path: part.path })),
);

/** Each message of the scope has this value; a text has at least `min` characters that are no white space, or any. */
export const required = check(
  z.strictObject({ ...scope, of: selector, min: z.number().optional() }),
  (view, { of, min = 0, ...within }) =>
    turnsOf(view, within)
      .filter(({ index }) => {
        const values = select(view, of, within).filter(({ turn }) => turn === index);
        return !values.some(({ value }) => sizeOf(value) >= min);
      })
      .map(({ turn, index }): Violation => ({ path: turn.path, fill: { index } })),
);

function sizeOf(value: unknown): number {
  if (value === null) return -1;
  return typeof value === 'string' || Array.isArray(value) ? value.length : 1;
}

/** A message, or a part, has no other members than these. */
export const members = check(
  z.strictObject({ ...scope, of: selector, allowed: z.array(z.string()) }),
  (view, { of, allowed, ...within }) =>
    selectParts(view, of, within).flatMap(({ part }) =>
      Object.keys(part.raw)
        .filter((name) => !allowed.includes(name))
        .map((name) => ({ path: [...part.path, name], fill: { name } })),
    ),
);

/** The request wants calls in one of these ways only. */
export const toolChoice = check(
  z.strictObject({ allowed: z.array(z.string()) }),
  ({ toolChoice: given }, { allowed }) =>
    given === undefined || allowed.includes(given) ? [] : [{ path: ['tool_choice'], fill: { value: given } }],
);

/** Each value is the name of a tool of the request. */
export const declared = check(z.strictObject({ ...scope, of: selector }), (view, { of, ...within }) => {
  const names = new Set(select(view, 'tool.name').map(({ value }) => value));
  return select(view, of, within)
    .filter(({ value }) => !names.has(value))
    .map(({ path, value }) => ({ path, fill: { value: shown(value) } }));
});

/** The request has tools when its history has calls or results. */
export const toolsWithCalls = check(z.strictObject({}), (view) =>
  view.tools.length === 0 && partsOf(view).some(({ type }) => type === 'call' || type === 'result')
    ? [{ path: ['tools'] }]
    : [],
);

/** The request as JSON has at most `max` bytes. */
export const bodyBytes = check(z.strictObject({ max: z.number() }), ({ body }, { max }) => {
  const bytes = Buffer.byteLength(JSON.stringify(body));
  return bytes > max ? [{ path: [], fill: { length: bytes, max } }] : [];
});

/** No part of this type stands directly before one of the other type in a message. */
export const noNeighbours = check(
  z.strictObject({ first: z.string(), second: z.string() }),
  ({ turns }, { first, second }) =>
    turns.flatMap(({ parts }) =>
      parts
        .filter((part, index) => {
          const before = parts[index - 1];
          const name = `${before?.type}:${String(before?.at['kind']?.value)}`;
          return part.type === second && (before?.type === first || name === first);
        })
        .map(({ path }) => ({ path })),
    ),
);

/** No part of this type has a mark of the cache; `empty`: none whose text is empty. */
export const unmarked = check(
  z.strictObject({ of: selector, empty: z.boolean().optional() }),
  (view, { of, empty = false }) =>
    selectParts(view, of)
      .filter(({ part: { at } }) => at['mark'] !== undefined && (!empty || at['text']?.value === ''))
      .map(({ part }) => ({ path: part.path })),
);

/** No mark of the cache stands among the tools. */
export const toolsUnmarked = check(z.strictObject({}), ({ tools }) =>
  tools.filter(({ type }) => type === 'mark').map(({ path }) => ({ path })),
);

/** The list at this place of the body, when it is there, has at least `min` elements. */
export const bodyList = check(
  z.strictObject({ path: z.array(z.string()), min: z.number() }),
  ({ body }, { path, min }) => {
    const list = path.reduce<unknown>((value, name) => membersOf(value)[name], body);
    return Array.isArray(list) && list.length < min ? [{ path, fill: { min } }] : [];
  },
);
