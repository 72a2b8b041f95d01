import type * as Net from 'node:net';
import type { Network } from './network.ts';
import { RefusedDownloadError } from './refused-download.ts';

/** How long a connection may take, and how long a server may send nothing: as `fetch` of Node.js. */
const CONNECT_LIMIT_MS = 10_000;
const SILENCE_LIMIT_MS = 300_000;

/**
 * Connects to the server of a URL. Nothing is sent before the address of the connection was checked: the checked address is
 * the address that receives the request.
 * @throws RefusedDownloadError for an address that is not public; the error of the connection.
 */
export async function checkedSocket(
  url: URL,
  signal: AbortSignal | undefined,
  network: Network,
): Promise<Net.Socket> {
  const { net, isPublic } = network;
  const host = hostOf(url);
  if (net.isIP(host) !== 0 && !isPublic(host)) throw RefusedDownloadError.notPublic(host);
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const socket = net.connect({ host, port, lookup: checkedLookup(network), ...(signal && { signal }) });
  try {
    await opened(socket, 'connect');
    requirePublicPeer(socket, host, network);
    if (!isSecure) return withLimit(socket, SILENCE_LIMIT_MS);
    return await secured(socket, host, network);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Returns the name or the address in a URL. The parser of URLs has converted all numeric forms of IPv4 to one. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Resolves a name, and refuses it when one of its addresses is not public. */
function checkedLookup({ lookup, isPublic }: Network): Net.LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const [first] = addresses;
      const isAllowed = first !== undefined && addresses.every(({ address }) => isPublic(address));
      if (!isAllowed) return callback(RefusedDownloadError.notPublic(host), []);
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** Some platforms ignore `lookup`, or do not tell the address of a connection. */
function requirePublicPeer(
  { remoteAddress = '' }: Net.Socket,
  host: string,
  { net, isPublic }: Network,
): void {
  if (net.isIP(remoteAddress) === 0) throw RefusedDownloadError.unchecked(host);
  if (!isPublic(remoteAddress)) throw RefusedDownloadError.notPublic(host);
}

/** Encrypts a connection, and checks that the certificate is that of the host. */
async function secured(socket: Net.Socket, host: string, { net, tls }: Network): Promise<Net.Socket> {
  socket.setTimeout(0);
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const secure = tls.connect({ socket, host, ALPNProtocols: ['http/1.1'], ...servername });
  await opened(secure, 'secureConnect');
  return withLimit(secure, SILENCE_LIMIT_MS);
}

/** Resolves when a connection is open. */
async function opened(socket: Net.Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  withLimit(socket, CONNECT_LIMIT_MS);
  await new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The connection was closed.')));
  });
}

function withLimit(socket: Net.Socket, milliseconds: number): Net.Socket {
  socket.removeAllListeners('timeout');
  return socket.setTimeout(milliseconds, () => {
    socket.destroy(
      Object.assign(new Error('The server of the file did not answer in time.'), { code: 'ETIMEDOUT' }),
    );
  });
}
