import type * as Http from 'node:http';
import { checkedSocket } from './checked-socket.ts';
import type { Network } from './network.ts';
import { RefusedDownloadError } from './refused-download.ts';

type Fetch = typeof globalThis.fetch;

/** The headers of a response that a download reads. */
const READ_HEADERS = ['location', 'content-type', 'content-length'] as const;
/** The statuses whose response has no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Returns a `fetch` for one GET without redirects, over a connection whose address was checked. */
export function checkedFetch(network: Network): Fetch {
  return async (input, { signal } = {}) => {
    const url = requestUrl(input);
    const socket = await checkedSocket(url, signal ?? undefined, network);
    const response = await responseOf(url, socket, network);
    return webResponse(response, network);
  };
}

/**
 * Returns a `fetch` of a platform that cannot check the addresses of names: it refuses URLs with names, unless the user
 * allows them.
 */
export function uncheckedFetch(allowsNames: boolean): Fetch {
  return async (input, init) => {
    const { hostname } = requestUrl(input);
    const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
    if (!isAddress && !allowsNames) throw RefusedDownloadError.unchecked(hostname);
    return globalThis.fetch(input, init);
  };
}

/** As `fetch`, which sends no name and password of a URL. */
function requestUrl(input: Parameters<Fetch>[0]): URL {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.username === '' && url.password === '') return url;
  throw new RefusedDownloadError(
    'DOWNLOAD_REFUSED',
    'The URL of a file has a user name or a password. Remove it.',
  );
}

function responseOf(
  { host, pathname, search }: URL,
  socket: ReturnType<Network['net']['connect']>,
  { http }: Network,
): Promise<Http.IncomingMessage> {
  const headers = { host, accept: '*/*', 'accept-encoding': 'identity', connection: 'close' };
  return new Promise((resolve, reject) => {
    const request = http.request({ createConnection: () => socket, path: `${pathname}${search}`, headers });
    request.once('response', resolve);
    request.once('error', reject);
    request.end();
  });
}

function webResponse(response: Http.IncomingMessage, { toWeb }: Network): Response {
  const { statusCode: status = 500, headers: given } = response;
  const headers = new Headers();
  for (const name of READ_HEADERS) if (given[name] !== undefined) headers.set(name, given[name]);
  const encoding = given['content-encoding'] ?? 'identity';
  if (WITHOUT_BODY.has(status)) {
    response.resume();
    return new Response(null, { status, headers });
  }
  const body = toWeb(response) as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Response(decoded(body, encoding), { status, headers });
}

/** Decodes a body that the server has compressed, although the request accepts no compression. */
function decoded(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  encoding: string,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  if (encoding === 'identity') return body;
  if (encoding === 'gzip' || encoding === 'deflate')
    return body.pipeThrough(new DecompressionStream(encoding));
  void body.cancel();
  throw new Error(
    `The server of the file has compressed it with "${encoding}", which the driver cannot read.`,
  );
}
