import type { LookupAddress } from 'node:dns';
import * as net from 'node:net';
import { networkInterfaces } from 'node:os';
import * as tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { userMessage } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { publicDownload, type Download, type DownloadedFile } from '../../src/download/download.ts';
import { platformNetwork, type Network } from '../../src/download/network.ts';
import { quietly, rejection, request } from '../builders.ts';
import { certificate } from './certificate.ts';
import { fileServer, picture, stopFileServers, type FileServer } from './file-server.ts';

/** In these tests the public internet is 127.0.0.2. */
const OUTSIDE = '127.0.0.2';
const INSIDE = '127.0.0.1';
const platform = platformNetwork() as Network;
const hasIpv6 = Object.values(networkInterfaces()).some((found) =>
  found?.some(({ address }) => address === '::1'),
);

/** A network with a resolver of the test. */
function networkOf(
  answer: (host: string) => readonly string[],
  outside: readonly string[] = [OUTSIDE],
  parts: Partial<Network> = {},
): Network & { readonly lookups: readonly string[] } {
  const lookups: string[] = [];
  const lookup = (host: string, _: unknown, done: (error: null, found: LookupAddress[]) => void) => {
    lookups.push(host);
    const found = answer(host).map((address) => ({ address, family: net.isIP(address) }));
    process.nextTick(done, null, found);
  };
  const isPublic = (address: string) => outside.includes(address) || platform.isPublic(address);
  return { ...platform, lookup: lookup as never, isPublic, ...parts, lookups };
}

const names = networkOf((host) => [host.startsWith('inside') ? INSIDE : OUTSIDE]);

function get(
  url: string,
  network: Network = names,
  options: Partial<Parameters<Download>[0]> = {},
): Promise<DownloadedFile> {
  const { signal } = new AbortController();
  return publicDownload({ network })({ url: new URL(url), maxBytes: 1_000, signal, ...options });
}
const textOf = ({ data }: DownloadedFile): string => Buffer.from(data).toString();
const redirect = (to: (server: FileServer) => string, server: () => FileServer) =>
  fileServer((_, response) => {
    response.writeHead(302, { location: to(server()) });
    response.end();
  });

afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await stopFileServers();
});

describe('the default download', () => {
  test('fetches a file from a public address', async () => {
    const { port, requests } = await fileServer(picture);
    const file = await get(`http://files.example:${port}/a%20b.png?size=2#top`);
    expect([textOf(file), file.mediaType]).toEqual(['picture', 'image/png']);
    expect(requests.map(({ method, url, headers }) => [method, url, headers.host])).toEqual([
      ['GET', '/a%20b.png?size=2', `files.example:${port}`],
    ]);
  });

  test.skipIf(!hasIpv6)('fetches a file over IPv6', async () => {
    const { port } = await fileServer(picture, { address: '::1' });
    const network = networkOf(() => ['::1'], ['::1']);
    expect(textOf(await get(`http://files.example:${port}/`, network))).toBe('picture');
    expect(
      textOf(
        await get(
          `http://files.example:${port}/`,
          networkOf(() => ['::1', OUTSIDE], ['::1', OUTSIDE]),
        ),
      ),
    ).toBe('picture');
  });

  test('fetches a file over HTTPS, and checks the name in the certificate', async () => {
    const { port } = await fileServer(picture, { isSecure: true });
    const connect = (options: tls.ConnectionOptions) => tls.connect({ ...options, ca: certificate.cert });
    const network = networkOf(() => [OUTSIDE], [OUTSIDE], { tls: { ...tls, connect } as never });
    expect(textOf(await get(`https://files.example:${port}/`, network))).toBe('picture');
    await expect(get(`https://other.example:${port}/`, network)).rejects.toMatchObject({
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
    await expect(get(`https://files.example:${port}/`)).rejects.toMatchObject({
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    });
  });

  test('reads a file that the server has compressed', async () => {
    const { port } = await fileServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('text'));
    });
    expect(textOf(await get(`http://files.example:${port}/`))).toBe('text');
  });

  test('follows redirects, and looks each name up once', async () => {
    const last = await fileServer(picture);
    const first = await fileServer((_, response) => {
      response.writeHead(307, { location: `//other.example:${last.port}/b` });
      response.end();
    });
    const network = networkOf(() => [OUTSIDE]);
    expect(textOf(await get(`http://files.example:${first.port}/a`, network))).toBe('picture');
    expect(network.lookups).toEqual(['files.example', 'other.example']);
  });

  test.each([
    ['declares', { 'content-length': '2000' }],
    ['sends', {}],
  ])('refuses a file that is larger than the limit, when the server %s its size', async (_, headers) => {
    const { port } = await fileServer((_request, response) => {
      response.writeHead(200, headers);
      response.end('x'.repeat(2_000));
    });
    await expect(get(`http://files.example:${port}/`)).rejects.toMatchObject({
      code: 'DOWNLOAD_REFUSED',
      message: expect.stringContaining('exceeded maximum size of 1000 bytes'),
    });
  });

  test('ends when its call is aborted, and closes the connection', async () => {
    const abort = new AbortController();
    const closed = Promise.withResolvers<void>();
    const { port } = await fileServer((_, response) => {
      response.once('close', () => closed.resolve());
      response.write('x');
      setImmediate(() => abort.abort(new Error('Stop.')));
    });
    await expect(get(`http://files.example:${port}/`, names, { signal: abort.signal })).rejects.toThrow(
      'Failed to download',
    );
    await closed.promise;
  });

  test('fails with the status of a server that has no file', async () => {
    const { port } = await fileServer((_, response) => response.writeHead(404).end('none'));
    await expect(get(`http://files.example:${port}/`)).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe('the default download connects to no private address', () => {
  test.each([
    ['loopback', [INSIDE]],
    ['loopback of IPv6', ['::1']],
    ['a private address', ['10.0.0.5']],
    ['the metadata service of a cloud', ['169.254.169.254']],
    ['an IPv4-mapped address', ['::ffff:127.0.0.1']],
    ['an address within NAT64', ['64:ff9b::7f00:1']],
    ['a public and a private address', [OUTSIDE, INSIDE]],
    ['a private and a public address', [INSIDE, OUTSIDE]],
    ['a public address and a private one of IPv6', [OUTSIDE, '::1']],
    ['no address', []],
  ])('of a name with %s', async (_, addresses) => {
    const [inside, outside] = [await fileServer(picture, { address: INSIDE }), await fileServer(picture)];
    for (const { port, connections } of [inside, outside]) {
      const refused = get(
        `http://files.example:${port}/`,
        networkOf(() => addresses),
      );
      await expect(refused).rejects.toMatchObject({
        code: 'DOWNLOAD_REFUSED',
        message: expect.stringContaining('"files.example"'),
      });
      expect(connections()).toBe(0);
    }
  });

  test.each([
    '127.0.0.1',
    '127.0.0.1.',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '017700000001',
    '127.1',
    '127.0.1',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    'localhost',
    'localhost.',
    'LOCALHOST',
    'a.localhost',
    'printer.local',
    'api.internal',
    '①②⑦.⓪.⓪.①',
  ])('of a URL with the host %s', async (host) => {
    const { port, connections } = await fileServer(picture, { address: INSIDE });
    const network = networkOf(() => [INSIDE]);
    await expect(get(`http://${host}:${port}/`, network)).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    expect([connections(), network.lookups]).toEqual([0, []]);
  });

  test.each([
    ['a name', (port: number) => `http://inside.example:${port}/`],
    ['an address', (port: number) => `http://127.0.0.1:${port}/`],
    ['another form of an address', (port: number) => `http://0x7f.1:${port}/`],
    ['an address of IPv6', (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['a URL without a scheme', (port: number) => `//inside.example:${port}/`],
    ['a URL with a user name', (port: number) => `http://files.example@inside.example:${port}/`],
    ['a file', () => 'file:///etc/passwd'],
  ])('after a redirect to %s', async (_, to) => {
    const inside = await fileServer(picture, { address: INSIDE });
    const { port } = await redirect(
      ({ port: target }) => to(target),
      () => inside,
    );
    await expect(get(`http://files.example:${port}/`)).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    expect(inside.connections()).toBe(0);
  });

  test('when the answer for a name changes after the check', async () => {
    const inside = await fileServer(picture, { address: INSIDE });
    const answers = [[OUTSIDE], [INSIDE], [INSIDE]];
    const network = networkOf(() => answers.shift() ?? []);
    await expect(get(`http://files.example:${inside.port}/`, network)).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
    expect([network.lookups, inside.connections()]).toEqual([['files.example'], 0]);
    const refused = get(`http://files.example:${inside.port}/`, network);
    await expect(refused).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    expect(inside.connections()).toBe(0);
  });

  test('of a URL with a user name, a password or another scheme', async () => {
    for (const url of [
      'http://a@files.example/',
      'http://a:b@files.example/',
      'http://:b@files.example/',
      'ftp://files.example/',
      'file:///etc/passwd',
    ])
      await expect(get(url)).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
  });

  test('after more than ten redirects, and none over HTTP after HTTPS', async () => {
    const server: FileServer = await redirect(
      ({ port }) => `http://files.example:${port}/`,
      () => server,
    );
    await expect(get(`http://files.example:${server.port}/`)).rejects.toMatchObject({
      code: 'DOWNLOAD_REFUSED',
      message: expect.stringContaining('Too many redirects'),
    });
    expect(server.requests).toHaveLength(11);
  });
});

describe('a platform', () => {
  /** A platform whose sockets are not those of Node.js. */
  const withConnect = (connect: (options: net.TcpNetConnectOpts) => net.Socket): Network =>
    networkOf(() => [OUTSIDE], [OUTSIDE], { net: { ...net, connect } as never });

  test('that resolves names by itself sends nothing to a private address', async () => {
    const { port, requests } = await fileServer(picture, { address: INSIDE });
    const network = withConnect(({ port: to }) => net.connect({ port: to, host: INSIDE }));
    await expect(get(`http://files.example:${port}/`, network)).rejects.toMatchObject({
      code: 'DOWNLOAD_REFUSED',
    });
    expect(requests).toEqual([]);
  });

  test('that does not tell the address of a connection sends nothing', async () => {
    const { port, requests } = await fileServer(picture);
    const network = withConnect((options) =>
      Object.defineProperty(net.connect(options), 'remoteAddress', { value: 'files.example' }),
    );
    await expect(get(`http://files.example:${port}/`, network)).rejects.toMatchObject({
      code: 'DOWNLOAD_UNCHECKED',
    });
    expect(requests).toEqual([]);
  });

  test.each(['no process', 'no modules', 'no sockets'])(
    'with %s fetches no names, unless they are allowed',
    async (what) => {
      const { env } = process;
      const getBuiltinModule = what === 'no sockets' ? () => undefined : undefined;
      const fetch = vi.fn<(input: unknown) => Promise<Response>>(async () => new Response('picture'));
      vi.stubGlobal('process', what === 'no process' ? undefined : { env, getBuiltinModule });
      vi.stubGlobal('fetch', fetch);
      const file = {
        url: new URL('https://files.example/a'),
        maxBytes: 10,
        signal: new AbortController().signal,
      };
      const refused = await publicDownload()(file).catch((error: unknown) => error);
      const numeric = textOf(await publicDownload()({ ...file, url: new URL('https://1.1.1.1/a') }));
      const inside = await publicDownload({ allowsUnchecked: true })({
        ...file,
        url: new URL('http://0x7f.1/'),
      }).catch((error: unknown) => error);
      const allowed = textOf(await publicDownload({ allowsUnchecked: true })(file));
      vi.unstubAllGlobals();
      expect(refused).toMatchObject({
        code: 'DOWNLOAD_UNCHECKED',
        message:
          'This platform cannot check the address of "files.example". Pass your own "download", or set "allowUncheckedDownloads" if the process reaches no private network.',
      });
      expect(inside).toMatchObject({ code: 'DOWNLOAD_REFUSED' });
      expect([numeric, allowed]).toEqual(['picture', 'picture']);
      expect(fetch.mock.calls.map(([url]) => url)).toEqual(['https://1.1.1.1/a', 'https://files.example/a']);
    },
  );
});

test('the driver reports a refused file as an invalid request, which is not repeated', async () => {
  const driver = aiSdkDriver({ model: new MockLanguageModelV4() });
  const url = 'http://[64:ff9b::127.0.0.1]/a.pdf';
  const message = userMessage([{ type: 'file', mediaType: 'application/pdf', data: { type: 'url', url } }]);
  const error = await rejection(driver.infer(request([message]), quietly()));
  expect(error).toMatchObject({
    code: 'DRIVER_INVALID_REQUEST',
    isRetryable: false,
    cause: { code: 'DOWNLOAD_REFUSED' },
  });
});
