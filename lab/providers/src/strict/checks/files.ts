import { z } from 'zod';
import { pictureFacts } from '../pictures.ts';
import { textOf, type View } from '../view.ts';
import { check, selectParts, type Violation } from './check.ts';

const kind = z.enum(['image', 'document', 'audio', 'video']);

interface Bytes {
  readonly path: Violation['path'];
  readonly base64: string;
  readonly mediaType: string;
}

function bytesOf(view: View, of: z.infer<typeof kind>): readonly Bytes[] {
  return selectParts(view, `file:${of}`).flatMap(({ part: { at } }) => {
    const { data, media, format } = at;
    const mediaType = textOf(media?.value) || (format ? `${of}/${textOf(format.value)}` : '');
    return data ? [{ path: data.path, base64: textOf(data.value), mediaType }] : [];
  });
}

/** The bytes of each picture are of the type that the request names. */
export const mediaMatches = check(z.strictObject({}), (view) =>
  bytesOf(view, 'image')
    .map((bytes) => ({ ...bytes, found: pictureFacts(Buffer.from(bytes.base64, 'base64'))?.mediaType }))
    .filter(({ mediaType, found }) => mediaType !== '' && found !== mediaType)
    .map(({ path, mediaType, found = 'unknown' }) => ({ path, fill: { value: mediaType, found } })),
);

/** Each file has at most `max` bytes; `encoded`: as base64. */
export const fileBytes = check(
  z.strictObject({ kind, max: z.number(), encoded: z.boolean().optional() }),
  (view, { kind: of, max, encoded = false }) =>
    bytesOf(view, of)
      .map(({ path, base64 }) => ({
        path,
        length: encoded ? base64.length : Buffer.byteLength(base64, 'base64'),
      }))
      .filter(({ length }) => length > max)
      .map(({ path, length }) => ({ path, fill: { length, max } })),
);

/** No side of a picture has more than `max` pixels; with more than `above` pictures the limit is `many`. */
export const pixels = check(
  z.strictObject({ max: z.number(), above: z.number().optional() }),
  (view, { max, above = 0 }) => {
    if (selectParts(view, 'file:image').length <= above) return [];
    return bytesOf(view, 'image')
      .filter(({ base64 }) => {
        const facts = pictureFacts(Buffer.from(base64, 'base64'));
        return facts !== undefined && Math.max(facts.width, facts.height) > max;
      })
      .map(({ path }) => ({ path, fill: { max } }));
  },
);

/** All PDFs of the request have at most `max` pages, counted by their page objects. */
export const pages = check(z.strictObject({ max: z.number() }), (view, { max }) => {
  const documents = bytesOf(view, 'document');
  const total = documents
    .map(({ base64 }) => Buffer.from(base64, 'base64').toString('latin1'))
    .reduce((sum, text) => sum + (text.match(/\/Type\s*\/Page\b/g)?.length ?? 0), 0);
  const [first] = documents;
  return first && total > max ? [{ path: first.path, fill: { count: total, max } }] : [];
});
