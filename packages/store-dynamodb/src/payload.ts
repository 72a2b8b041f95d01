import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { StateFormatError } from '@holdfast/core';

const PLAIN = 0;
const DEFLATED = 1;
/** A write costs by the kilobyte: below one there is nothing to gain. */
const DEFLATE_FROM_BYTES = 1_000;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** A text as bytes, packed where that may pay. The first byte says how. */
export async function toPayload(text: string): Promise<Uint8Array> {
  const bytes = Buffer.from(text);
  if (bytes.length < DEFLATE_FROM_BYTES) return Buffer.concat([Uint8Array.of(PLAIN), bytes]);
  return Buffer.concat([Uint8Array.of(DEFLATED), await deflate(bytes)]);
}

/** The text again. @throws StateFormatError when the bytes are not such. */
export async function fromPayload(payload: Uint8Array | undefined, what: string): Promise<string> {
  const [codec] = payload ?? [];
  const bytes = payload?.subarray(1) ?? Buffer.alloc(0);
  if (codec === PLAIN) return Buffer.from(bytes).toString();
  if (codec !== DEFLATED) throw new StateFormatError(what, 'bytes in a known form', `form ${codec}`);
  try {
    return (await inflate(bytes)).toString();
  } catch (cause) {
    throw new StateFormatError(what, 'deflated bytes', `${bytes.length} others`, { cause });
  }
}

/** JSON that a payload holds. @throws StateFormatError */
export async function jsonOf(payload: Uint8Array | undefined, what: string): Promise<unknown> {
  const text = await fromPayload(payload, what);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StateFormatError(what, 'JSON', `${text.length} characters`, { cause });
  }
}
