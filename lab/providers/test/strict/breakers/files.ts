import type { Members } from '../../../src/strict/view.ts';
import { firstPart, parameter, repeated, setAt, withValue, type Breaker, type Whole } from './breaker.ts';

/** The head of a PNG with this side. */
function png(side: number): string {
  const head = Buffer.alloc(33);
  head.write('\u0089PNG\r\n\u001A\n', 'latin1');
  head.writeUInt32BE(13, 8);
  head.write('IHDR', 12);
  head.writeUInt32BE(side, 16);
  head.writeUInt32BE(1, 20);
  return head.toString('base64');
}

function withBytes(whole: Whole, of: string, base64: string): Members {
  const part = firstPart(whole, of);
  const { data } = part.at;
  if (!data) throw new Error(`The ${of} has no bytes.`);
  return withValue(whole.body, { ...data, part, turn: 0 }, base64);
}

function withSchema({ view, body }: Whole, change: object, of = 'schema'): Members {
  const place = view.tools[0]?.at[of];
  if (!place) throw new Error('The tool has no schema.');
  return setAt(body, place.path, { ...(place.value as object), ...change });
}

const LIMITS: Readonly<Record<string, object>> = {
  'enum of texts': { properties: { a: { type: 'string', enum: [1] } } },
  'array has items': { properties: { a: { type: 'array' } } },
  'one type': { properties: { a: { type: ['string', 'null'] } } },
  'format of dates': { properties: { a: { type: 'string', format: 'email' } } },
  'closed objects': { additionalProperties: true },
};

function schemaOf({ rule }: Whole): string {
  const of = parameter(rule, 'of');
  return typeof of === 'string' ? of.slice('tool.'.length) : 'schema';
}

export const fileBreakers: Readonly<Record<string, Breaker>> = {
  mediaMatches: (whole) =>
    withBytes(whole, 'file:image', Buffer.from('GIF89a\u0001\u0000\u0001\u0000').toString('base64')),
  fileBytes: (whole) => {
    const bytes = Buffer.alloc(Number(parameter(whole.rule, 'max')) + 1);
    return withBytes(whole, `file:${String(parameter(whole.rule, 'kind'))}`, bytes.toString('base64'));
  },
  pixels: (whole) => {
    const body = withBytes(whole, 'file:image', png(Number(parameter(whole.rule, 'max')) + 1));
    return repeated(body, firstPart(whole, 'file:image').path, Number(parameter(whole.rule, 'above') ?? 0));
  },
  pages: (whole) => {
    const pages = '/Type /Page '.repeat(Number(parameter(whole.rule, 'max')) + 1);
    return withBytes(whole, 'file:document', Buffer.from(pages).toString('base64'));
  },
  schemaRoot: (whole) => {
    const [word] = (parameter(whole.rule, 'forbidden') ?? []) as readonly string[];
    if (word) return withSchema(whole, { [word]: [] });
    return withSchema(
      whole,
      parameter(whole.rule, 'properties') ? { properties: undefined } : { type: 'string' },
    );
  },
  schemaKeys: (whole) => withSchema(whole, { properties: { 'a b': { type: 'string' } } }),
  schemaWords: (whole) => {
    const [word = ''] = parameter(whole.rule, 'forbidden') as readonly string[];
    return withSchema(whole, { properties: { a: { [word]: 'a' } } }, schemaOf(whole));
  },
  schemaLimit: (whole) =>
    withSchema(whole, LIMITS[String(parameter(whole.rule, 'limit'))] ?? {}, schemaOf(whole)),
};
