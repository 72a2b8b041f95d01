const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The slot of a Cluster that holds a name with a hash tag: the CRC16 of the tag. */
export function hashSlot(name: string): number {
  const tag = name.slice(name.indexOf('{') + 1, name.indexOf('}'));
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0)) & 0xffff;
  }
  return crc % SLOTS;
}
