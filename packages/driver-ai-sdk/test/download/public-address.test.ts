import * as net from 'node:net';
import { describe, expect, test } from 'vitest';
import { SPECIAL_IPV4, SPECIAL_IPV6 } from '../../src/download/address-ranges.ts';
import { publicAddressCheck } from '../../src/download/public-address.ts';

const isPublic = publicAddressCheck(net);

const PUBLIC = `
  1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.0.1.0
  198.17.255.255 198.20.0.0 223.255.255.255 2606:4700:4700::1111 2a00:1450:4001:82b::200e
  2001:200::1 3ffe::1 64:ff9b::808:808 64:ff9b::8.8.8.8
`;

const NOT_PUBLIC = `
  0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1
  172.31.255.255 192.0.0.192 192.168.1.1 198.18.0.1 198.19.255.255 203.0.113.9 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16 192.88.99.1 :: ::1 ::127.0.0.1
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a00:1
  64:ff9b::169.254.169.254 64:ff9b:1::808:808 100::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1
  2001:db8::1 2002:7f00:1:: 2002:808:808:: 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1
  fe80::1%eth0 2606:4700::1%1 fec0::1 ff02::1 localhost 1.1.1 0x7f.1 2130706433 1.1.1.1. example.com
`;

/** The words of a text, at least one. */
const wordsOf = (text: string): string[] => text.trim().split(/\s+/u);

describe('addresses', () => {
  test.each(wordsOf(PUBLIC))('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test.each(['', ...wordsOf(NOT_PUBLIC)])('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test('of each special range are not public, from the first to the last', () => {
    const ranges = SPECIAL_IPV4.map(([network, prefix]) => {
      const first = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
      return [first, first + 2 ** (32 - prefix) - 1];
    });
    const textOf = (value: number) =>
      [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join('.');
    expect(ranges.flat().map(textOf).filter(isPublic)).toEqual([]);
    expect(
      ranges
        .flat()
        .map((value) => `64:ff9b::${textOf(value)}`)
        .filter(isPublic),
    ).toEqual([]);
    expect(SPECIAL_IPV6.map(([network]) => network).filter(isPublic)).toEqual([]);
  });
});
