import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { StateFormatError } from '@holdfast/core';

/** The size from which on a value is deflated. Deflating smaller values saves too little memory of the server. */
const DEFLATE_FROM_BYTES = 4_096;
/** No JSON text begins with this byte. */
const DEFLATED = 1;
/** No JSON text begins with a lower byte. Lower bytes are reserved for further encodings. */
const FIRST_TEXT_BYTE = 0x20;

/** A JSON text as it is stored: the text itself, or deflated after the byte `DEFLATED` if that is shorter. */
export function encodeValue(json: string): string | Buffer {
  if (json.length * 3 < DEFLATE_FROM_BYTES) return json;
  const bytes = Buffer.byteLength(json);
  if (bytes < DEFLATE_FROM_BYTES) return json;
  const deflated = deflateRawSync(json);
  if (deflated.length + 1 >= bytes) return json;
  return Buffer.concat([Buffer.of(DEFLATED), deflated]);
}

/** The JSON text of a stored value. @throws StateFormatError for an unknown encoding, or damaged bytes */
export function decodeValue(bytes: Buffer, what: string): string {
  const first = bytes[0] ?? 0;
  if (first >= FIRST_TEXT_BYTE) return bytes.toString('utf8');
  if (first !== DEFLATED) throw new StateFormatError(what, 'a known encoding', `encoding ${first}`);
  try {
    return inflateRawSync(bytes.subarray(1)).toString('utf8');
  } catch (cause) {
    throw new StateFormatError(what, 'deflated JSON', 'damaged bytes', { cause });
  }
}
