import type * as Net from 'node:net';
import { GLOBAL_IPV6, SPECIAL_IPV4, SPECIAL_IPV6, type AddressRange } from './address-ranges.ts';

/** Returns a function that is true for an address of the public internet, and false for any other text. */
export function publicAddressCheck({ BlockList, isIP }: typeof Net): (address: string) => boolean {
  const listOf = (ranges: readonly AddressRange[], family: 'ipv4' | 'ipv6'): Net.BlockList => {
    const list = new BlockList();
    for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
    return list;
  };
  const special4 = listOf(SPECIAL_IPV4, 'ipv4');
  const global6 = listOf(GLOBAL_IPV6, 'ipv6');
  const special6 = listOf([...SPECIAL_IPV6, ...SPECIAL_IPV4.map(translated)], 'ipv6');
  return (address) => {
    if (address.includes('%')) return false; // a zone: the address is valid on one link only
    const family = isIP(address);
    if (family === 4) return !special4.check(address, 'ipv4');
    return family === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
  };
}

/** The addresses by which NAT64 reaches a range of IPv4. */
function translated([network, prefix, use]: AddressRange): AddressRange {
  return [`64:ff9b::${network}`, 96 + prefix, use];
}
