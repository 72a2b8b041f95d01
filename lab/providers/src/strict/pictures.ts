/** The type and size of a picture. */
export interface PictureFacts {
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

/** Reads the head of a PNG, GIF, JPEG or WebP. Anything else is `undefined`. */
export function pictureFacts(bytes: Buffer): PictureFacts | undefined {
  if (bytes.subarray(0, 8).toString('latin1') === '\u0089PNG\r\n\u001A\n') return pngFacts(bytes);
  if (/^GIF8[79]a/.test(bytes.subarray(0, 6).toString('latin1'))) {
    return { mediaType: 'image/gif', width: at16(bytes, 6, true), height: at16(bytes, 8, true) };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegFacts(bytes);
  const isWebp = bytes.subarray(0, 4).toString() === 'RIFF' && bytes.subarray(8, 12).toString() === 'WEBP';
  return isWebp ? { mediaType: 'image/webp', width: 0, height: 0 } : undefined;
}

function pngFacts(bytes: Buffer): PictureFacts {
  const size = bytes.length >= 24 ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : [];
  return { mediaType: 'image/png', width: size[0] ?? 0, height: size[1] ?? 0 };
}

/** The size stands in the first frame header of a JPEG. */
function jpegFacts(bytes: Buffer): PictureFacts {
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      return { mediaType: 'image/jpeg', width: at16(bytes, at + 7), height: at16(bytes, at + 5) };
    }
    at += 2 + at16(bytes, at + 2);
  }
  return { mediaType: 'image/jpeg', width: 0, height: 0 };
}

function at16(bytes: Buffer, offset: number, isLittle = false): number {
  if (offset + 2 > bytes.length) return 0;
  return isLittle ? bytes.readUInt16LE(offset) : bytes.readUInt16BE(offset);
}
