import { z } from 'zod';
import { textOf, type Path } from '../view.ts';
import { check, scope, select, selector, shown, type Selected, type Violation } from './check.ts';

const of = z.union([selector, z.array(selector)]);

function violationAt({ path, value }: Selected): Violation {
  return { path, fill: { value: shown(value) } };
}

/** Each text matches the pattern. */
export const pattern = check(
  z.strictObject({ ...scope, of, pattern: z.string(), flags: z.string().optional() }),
  (view, { of: names, pattern: source, flags = 'u', ...within }) => {
    const expected = new RegExp(source, flags);
    return [names]
      .flat()
      .flatMap((name) => select(view, name, within))
      .filter(({ value }) => typeof value === 'string' && !expected.test(value))
      .map(violationAt);
  },
);

/** Each text or list has at least `min` and at most `max` elements; `bytes` counts a text as UTF-8. */
export const length = check(
  z.strictObject({
    ...scope,
    of,
    min: z.number().optional(),
    max: z.number().optional(),
    bytes: z.boolean().optional(),
  }),
  (view, { of: names, min = 0, max = Infinity, bytes = false, ...within }) =>
    [names]
      .flat()
      .flatMap((name) => select(view, name, within))
      .map((selected) => ({ selected, size: sizeOf(selected.value, bytes) }))
      .filter(({ size }) => size !== undefined && (size < min || size > max))
      .map(({ selected, size = 0 }) => ({
        path: selected.path,
        fill: { value: shown(selected.value), length: size, max },
      })),
);

function sizeOf(value: unknown, bytes: boolean): number | undefined {
  if (typeof value === 'string') return bytes ? Buffer.byteLength(value) : value.length;
  return Array.isArray(value) ? value.length : undefined;
}

/** Each value is one of a list. */
export const oneOf = check(
  z.strictObject({ ...scope, of: selector, values: z.array(z.string()) }),
  (view, { of: name, values, ...within }) =>
    select(view, name, within)
      .filter(({ value }) => !values.includes(textOf(value)))
      .map(violationAt),
);

const kinds = z.enum(['string', 'null', 'list', 'object', 'number', 'boolean']);

function kindOf(value: unknown): z.infer<typeof kinds> {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

/** Each value has one of these kinds. */
export const kind = check(
  z.strictObject({ ...scope, of: selector, kinds: z.array(kinds) }),
  (view, { of: name, kinds: allowed, ...within }) =>
    select(view, name, within)
      .filter(({ value }) => !allowed.includes(kindOf(value)))
      .map(violationAt),
);

/** Each text is JSON, of this kind. */
export const json = check(
  z.strictObject({ ...scope, of: selector, kind: kinds.optional() }),
  (view, { of: name, kind: expected, ...within }) =>
    select(view, name, within)
      .filter(({ value }) => typeof value === 'string' && !isJson(value, expected))
      .map(violationAt),
);

function isJson(text: string, expected: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return expected === undefined || kindOf(value) === expected;
  } catch {
    return false;
  }
}

/** No value occurs twice. `fold`: capitals do not matter. `per`: in the request, or in a message. */
export const unique = check(
  z.strictObject({
    ...scope,
    of: selector,
    fold: z.boolean().optional(),
    per: z.enum(['request', 'turn']).optional(),
  }),
  (view, { of: name, fold = false, per = 'request', ...within }) => {
    const seen = new Set<string>();
    return select(view, name, within)
      .filter(({ value, turn }) => {
        const text = fold ? textOf(value).toLowerCase() : textOf(value);
        const key = JSON.stringify([per === 'turn' ? turn : 0, text]);
        return seen.size === seen.add(key).size;
      })
      .map(violationAt);
  },
);

/** One long text: a pattern with groups would overflow. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Each text is base64 with padding, and not empty. */
export const base64 = check(z.strictObject({ ...scope, of: selector }), (view, { of: name, ...within }) =>
  select(view, name, within)
    .filter(({ value }) => textOf(value).length % 4 !== 0 || !BASE64.test(textOf(value)))
    .map(violationAt),
);

/** No text of the request has half a surrogate pair. */
export const surrogates = check(z.strictObject({}), ({ body }) => brokenTexts(body, []).slice(0, 1));

function brokenTexts(value: unknown, path: Path): readonly Violation[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [{ path }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = [...path, Array.isArray(value) ? Number(name) : name];
    return name.isWellFormed() ? brokenTexts(inner, at) : [{ path: at }];
  });
}
