import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { StateFormatError } from '@holdfast/core';

/** From so many bytes on it pays: memory of the server for time of the process. */
const DEFLATED_FROM_BYTES = 4_096;
/** No JSON text begins with it. */
const DEFLATED = 1;
/** The first bytes that a JSON text cannot have are kept for encodings to come. */
const FIRST_TEXT_BYTE = 0x20;

/** A JSON text as it is kept: its bytes, or deflated behind one byte that says so. */
export function encodeValue(json: string): string | Buffer {
  if (json.length * 3 < DEFLATED_FROM_BYTES) return json;
  const bytes = Buffer.byteLength(json);
  if (bytes < DEFLATED_FROM_BYTES) return json;
  const deflated = deflateRawSync(json);
  if (deflated.length + 1 >= bytes) return json;
  return Buffer.concat([Buffer.of(DEFLATED), deflated]);
}

/** The JSON text of a value. @throws StateFormatError when its encoding is not known, or it is damaged. */
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
