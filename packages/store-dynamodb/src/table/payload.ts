import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { StateFormatError } from '@holdfast/core';
import { DICTIONARY } from './dictionary.ts';

const PLAIN = 0;
/** Raw deflate with the dictionary. */
const DEFLATED = 1;
/** Low, because a header is at most a kilobyte and DynamoDB bills each kilobyte. */
const DEFLATE_FROM_BYTES = 100;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * A text as bytes, deflated if that may save bytes. The first byte gives the form. Text that also occurs in `context`,
 * which the reader must pass too, takes almost no bytes.
 */
export async function toPayload(text: string, context = ''): Promise<Uint8Array> {
  const bytes = Buffer.from(text);
  if (bytes.length < DEFLATE_FROM_BYTES) return Buffer.concat([Uint8Array.of(PLAIN), bytes]);
  return Buffer.concat([Uint8Array.of(DEFLATED), await deflate(bytes, deflateOptions(context))]);
}

/** The text of a payload. @throws StateFormatError for other bytes */
export async function fromPayload(
  payload: Uint8Array | undefined,
  what: string,
  context = '',
): Promise<string> {
  const [form] = payload ?? [];
  const bytes = payload?.subarray(1) ?? Buffer.alloc(0);
  if (form === PLAIN) return Buffer.from(bytes).toString();
  if (form !== DEFLATED) throw new StateFormatError(what, 'bytes in a known form', `form ${form}`);
  try {
    return (await inflate(bytes, deflateOptions(context))).toString();
  } catch (cause) {
    throw new StateFormatError(what, 'deflated bytes', `${bytes.length} others`, { cause });
  }
}

function deflateOptions(context: string): { readonly dictionary: Buffer } {
  return { dictionary: context === '' ? DICTIONARY : Buffer.concat([DICTIONARY, Buffer.from(context)]) };
}

/** The JSON value of a payload. @throws StateFormatError */
export async function jsonFromPayload(payload: Uint8Array | undefined, what: string): Promise<unknown> {
  return parseJson(await fromPayload(payload, what), what);
}

/** The JSON value of a text. @throws StateFormatError */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StateFormatError(what, 'JSON', `${text.length} characters`, { cause });
  }
}
