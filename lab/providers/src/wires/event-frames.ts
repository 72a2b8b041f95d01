import { crc32 } from 'node:zlib';

/** A frame of the event stream of AWS: lengths, headers and payload, with a checksum of the lengths and of all. */
export function eventFrame(headers: Readonly<Record<string, string>>, payload: object): Uint8Array {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const lengths = Buffer.concat([uint32(head.length + body.length + 16), uint32(head.length)]);
  const checked = Buffer.concat([lengths, uint32(crc32(lengths)), head, body]);
  return Buffer.concat([checked, uint32(crc32(checked))]);
}

const STRING = 7;

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.of(Buffer.byteLength(name)),
    Buffer.from(name),
    Buffer.of(STRING),
    length,
    Buffer.from(value),
  ]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
