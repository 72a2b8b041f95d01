/** A range of addresses: the first address, the length of the prefix in bits, and its use in the registry. */
export type AddressRange = readonly [network: string, prefix: number, use: string];

/**
 * The addresses of IPv4 that no download may reach. Source: the special-purpose registry of IANA,
 * https://www.iana.org/assignments/iana-ipv4-special-registry, and its registry of multicast addresses, as of 2025-10.
 * The last entry is no special-purpose address: it is the host service in virtual machines of Azure.
 */
export const SPECIAL_IPV4: readonly AddressRange[] = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private use'],
  ['100.64.0.0', 10, 'shared address space of carriers'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link local, with the metadata services of clouds'],
  ['172.16.0.0', 12, 'private use'],
  ['192.0.0.0', 24, 'protocol assignments'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.31.196.0', 24, 'AS112-v4'],
  ['192.52.193.0', 24, 'AMT'],
  ['192.88.99.0', 24, '6to4 relay anycast, deprecated'],
  ['192.168.0.0', 16, 'private use'],
  ['192.175.48.0', 24, 'direct delegation AS112 service'],
  ['198.18.0.0', 15, 'benchmarking'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved, with the limited broadcast'],
  ['168.63.129.16', 32, 'host service of Azure'],
];

/**
 * The addresses of IPv6 that are unicast and global: https://www.iana.org/assignments/ipv6-address-space, as of 2025-10.
 * All others are refused, among them loopback, IPv4-mapped, link-local, unique local, site-local and multicast addresses.
 */
export const GLOBAL_IPV6: readonly AddressRange[] = [
  ['2000::', 3, 'global unicast'],
  ['64:ff9b::', 96, 'translation to IPv4 (NAT64)'],
];

/**
 * The addresses within `GLOBAL_IPV6` that no download may reach:
 * https://www.iana.org/assignments/iana-ipv6-special-registry, as of 2025-10.
 */
export const SPECIAL_IPV6: readonly AddressRange[] = [
  ['2001::', 23, 'protocol assignments, with Teredo, benchmarking and ORCHID'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4, which embeds an address of IPv4'],
  ['2620:4f:8000::', 48, 'direct delegation AS112 service'],
  ['3fff::', 20, 'documentation'],
];
