import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { StateFormatError } from '@holdfast/core';
import { DICTIONARY } from './dictionary.ts';

const PLAIN = 0;
/** Raw deflate, with the dictionary. */
const DEFLATED = 1;
/** A header is a kilobyte at most, and each of its parts counts. */
const DEFLATE_FROM_BYTES = 100;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * A text as bytes, packed where that may pay. The first byte says how. What the text has in common with `context`, which a
 * reader must know, costs next to nothing.
 */
export async function toPayload(text: string, context = ''): Promise<Uint8Array> {
  const bytes = Buffer.from(text);
  if (bytes.length < DEFLATE_FROM_BYTES) return Buffer.concat([Uint8Array.of(PLAIN), bytes]);
  return Buffer.concat([Uint8Array.of(DEFLATED), await deflate(bytes, packing(context))]);
}

/** The text again. @throws StateFormatError when the bytes are not such. */
export async function fromPayload(
  payload: Uint8Array | undefined,
  what: string,
  context = '',
): Promise<string> {
  const [codec] = payload ?? [];
  const bytes = payload?.subarray(1) ?? Buffer.alloc(0);
  if (codec === PLAIN) return Buffer.from(bytes).toString();
  if (codec !== DEFLATED) throw new StateFormatError(what, 'bytes in a known form', `form ${codec}`);
  try {
    return (await inflate(bytes, packing(context))).toString();
  } catch (cause) {
    throw new StateFormatError(what, 'deflated bytes', `${bytes.length} others`, { cause });
  }
}

function packing(context: string): { readonly dictionary: Buffer } {
  return { dictionary: context === '' ? DICTIONARY : Buffer.concat([DICTIONARY, Buffer.from(context)]) };
}

/** JSON that a payload holds. @throws StateFormatError */
export async function jsonOf(payload: Uint8Array | undefined, what: string): Promise<unknown> {
  return jsonIn(await fromPayload(payload, what), what);
}

/** The JSON in a text. @throws StateFormatError */
export function jsonIn(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StateFormatError(what, 'JSON', `${text.length} characters`, { cause });
  }
}
