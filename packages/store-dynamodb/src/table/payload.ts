import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { StateFormatError } from '@holdfast/core';
import { DICTIONARY } from './dictionary.ts';

const PLAIN = 0;
/** The form of a payload that is raw deflate with the dictionary. */
const DEFLATED = 1;
/** The minimum is low, because a header has at most a kilobyte and DynamoDB bills each kilobyte. */
const DEFLATE_FROM_BYTES = 100;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * Converts a text to bytes, and deflates longer texts. The first byte gives the form. Text that also occurs in
 * `context` takes almost no bytes; the reader must pass the same `context`.
 */
export async function toPayload(text: string, context = ''): Promise<Uint8Array> {
  const bytes = Buffer.from(text);
  if (bytes.length < DEFLATE_FROM_BYTES) return Buffer.concat([Uint8Array.of(PLAIN), bytes]);
  return Buffer.concat([Uint8Array.of(DEFLATED), await deflate(bytes, deflateOptions(context))]);
}

/**
 * The text of a payload.
 * @throws StateFormatError `STATE_FORMAT` when the bytes are not a payload
 */
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
    throw new StateFormatError(what, 'deflated bytes', `${bytes.length} other bytes`, { cause });
  }
}

function deflateOptions(context: string): { readonly dictionary: Buffer } {
  return { dictionary: context === '' ? DICTIONARY : Buffer.concat([DICTIONARY, Buffer.from(context)]) };
}

/**
 * The JSON value of a payload.
 * @throws StateFormatError `STATE_FORMAT` when the bytes are not a payload of JSON
 */
export async function jsonFromPayload(payload: Uint8Array | undefined, what: string): Promise<unknown> {
  return parseJson(await fromPayload(payload, what), what);
}

/**
 * The JSON value of a text.
 * @throws StateFormatError `STATE_FORMAT` when the text is not JSON
 */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StateFormatError(what, 'JSON', `${text.length} characters of other text`, { cause });
  }
}
