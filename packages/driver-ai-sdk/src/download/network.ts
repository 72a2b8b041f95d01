import type * as Dns from 'node:dns';
import type * as Http from 'node:http';
import type * as Net from 'node:net';
import type { Readable } from 'node:stream';
import type * as Tls from 'node:tls';
import { publicAddressCheck } from './public-address.ts';

/** The network of a platform with sockets, and the addresses that downloads may reach. */
export interface Network {
  readonly net: typeof Net;
  readonly tls: typeof Tls;
  readonly http: typeof Http;
  /** Converts the body of a response to a stream of the web. */
  readonly toWeb: typeof Readable.toWeb;
  /** Resolves names. */
  readonly lookup: typeof Dns.lookup;
  readonly isPublic: (address: string) => boolean;
}

/**
 * Returns the network of Node.js and of platforms that offer its modules; `undefined` on others. `getBuiltinModule`
 * replaces imports, so that the driver can be loaded where there are no sockets.
 */
export function platformNetwork(): Network | undefined {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return undefined;
  const net: typeof Net | undefined = process.getBuiltinModule('node:net');
  const tls: typeof Tls | undefined = process.getBuiltinModule('node:tls');
  const http: typeof Http | undefined = process.getBuiltinModule('node:http');
  const stream: { readonly Readable: typeof Readable } | undefined = process.getBuiltinModule('node:stream');
  const dns: typeof Dns | undefined = process.getBuiltinModule('node:dns');
  if (!net || !tls || !http || !stream || !dns || typeof net.BlockList !== 'function') return undefined;
  return {
    net,
    tls,
    http,
    toWeb: (body) => stream.Readable.toWeb(body),
    lookup: dns.lookup,
    isPublic: publicAddressCheck(net),
  };
}
