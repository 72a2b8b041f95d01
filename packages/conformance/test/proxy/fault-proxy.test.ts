import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FaultProxy, type WireProtocol } from '@holdfast/conformance/proxy';
import { afterEach, expect, test } from 'vitest';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** A request is a line. */
const LINES: WireProtocol = {
  scanRequest: () => (data) => (data.includes('\n') ? data.indexOf('\n') + 1 : undefined),
};

/** A server that answers each line with `did LINE`, and the lines that it has received. */
async function lineServer(
  answer = (line: string) => `did ${line}\n`,
): Promise<{ port: number; lines: string[] }> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        const all = `${rest}${String(data)}`.split('\n');
        rest = all.pop() ?? '';
        for (const line of all) {
          lines.push(line);
          socket.write(answer(line));
        }
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, lines };
}

async function proxyTo(port: number, protocol: WireProtocol = LINES): Promise<FaultProxy> {
  const proxy = await FaultProxy.open({ target: { port }, protocol });
  closings.push(() => proxy.close());
  return proxy;
}

/** A client that sends texts, and reads the replies up to a length or to the end of the connection. */
class Client {
  private readonly socket: Socket;
  private received = '';
  private wake = (): void => undefined;

  constructor({ port }: FaultProxy) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.on('error', () => undefined).on('close', () => this.wake());
    this.socket.on('data', (data) => {
      this.received += String(data);
      this.wake();
    });
    closings.push(() => this.socket.destroy());
  }

  /** Sends a text. Resolves with all replies when they end with this text, or when the connection has ended. */
  async send(text: string, end: string): Promise<string> {
    this.received = '';
    this.socket.write(text);
    while (!this.received.endsWith(end) && !this.socket.closed)
      await new Promise<void>((resolve) => void (this.wake = resolve));
    return this.socket.closed ? `${this.received}(closed)` : this.received;
  }
}

test('requests and replies pass, and are counted, however their bytes arrive', async () => {
  const { port, lines } = await lineServer();
  const proxy = await proxyTo(port);
  const client = new Client(proxy);
  expect(await client.send('a\nb\nc', 'did b\n')).toBe('did a\ndid b\n');
  expect(await client.send('d\n', 'did cd\n')).toBe('did cd\n');
  expect(lines).toEqual(['a', 'b', 'cd']);
  const [sent, replied] = ['a\nb\ncd\n', 'did a\ndid b\ndid cd\n'];
  expect(await proxy.measure()).toEqual({ requests: 3, bytes: sent.length + replied.length });
});

test('a cut request does not reach the server, and no other request fails', async () => {
  const { port, lines } = await lineServer();
  const proxy = await proxyTo(port);
  proxy.arm('cut', 2);
  const client = new Client(proxy);
  expect(await client.send('a\n', 'did a\n')).toBe('did a\n');
  expect(await client.send('b\n', 'did b\n')).toBe('(closed)');
  expect(await new Client(proxy).send('c\n', 'did c\n')).toBe('did c\n');
  expect(lines).toEqual(['a', 'c']);
  expect(proxy.disarm()).toBe(true);
  expect(proxy.disarm()).toBe(false);
});

test('a request whose reply is lost reaches the server', async () => {
  const { port, lines } = await lineServer();
  const proxy = await proxyTo(port);
  proxy.arm('loseReply', 1);
  expect(await new Client(proxy).send('a\n', 'did a\n')).toBe('(closed)');
  expect(lines).toEqual(['a']);
  proxy.arm('loseReply', 2);
  expect(await new Client(proxy).send('b\n', 'did b\n')).toBe('did b\n');
  expect(proxy.disarm()).toBe(false);
});

test('with an echo, the reply of an earlier request does not end the connection before the server has the request', async () => {
  const held: string[] = [];
  const { port, lines } = await lineServer((line) => {
    held.push(`did ${line}\n`);
    return line === 'first' ? 'did first\n' : line.startsWith('echo') ? held.join('') : '';
  });
  const proxy = await proxyTo(port, { ...LINES, echo: (mark) => `echo ${mark}\n` });
  proxy.arm('loseReply', 2);
  expect(await new Client(proxy).send('first\nsecond\n', 'did second\n')).toBe('(closed)');
  expect(lines.slice(0, 2)).toEqual(['first', 'second']);
  expect(proxy.disarm()).toBe(true);
});

test.each<readonly [how: string, protocol: WireProtocol, lines: readonly string[]]>([
  ['a reply of the proxy', { ...LINES, throttle: { reply: 'did not\n' } }, ['b']],
  ['a request that the server refuses', { ...LINES, throttle: { request: 'not\n' } }, ['not', 'b']],
])('a request is throttled by %s', async (_, protocol, lines) => {
  const server = await lineServer((line) => (line === 'not' ? 'did not\n' : `did ${line}\n`));
  const proxy = await proxyTo(server.port, protocol);
  proxy.arm('throttle', 1);
  const client = new Client(proxy);
  expect(await client.send('a\n', 'did not\n')).toBe('did not\n');
  expect(await client.send('b\n', 'did b\n')).toBe('did b\n');
  expect(server.lines).toEqual(lines);
  expect(proxy.disarm()).toBe(true);
});

test('requests that do not count meet no fault', async () => {
  const { port } = await lineServer();
  const proxy = await proxyTo(port, {
    ...LINES,
    isCounted: (request) => !request.toString().startsWith('hello'),
  });
  proxy.arm('cut', 1);
  const client = new Client(proxy);
  expect(await client.send('hello\n', 'did hello\n')).toBe('did hello\n');
  expect((await proxy.measure()).requests).toBe(0);
  expect(await client.send('a\n', 'did a\n')).toBe('(closed)');
});

test('new connections wait for the gate, and lead to the target', async () => {
  const [first, second] = [await lineServer(), await lineServer()];
  const proxy = await proxyTo(first.port);
  const gate = Promise.withResolvers<void>();
  proxy.gate = gate.promise;
  const reply = new Client(proxy).send('a\n', 'did a\n');
  proxy.target = { port: second.port };
  gate.resolve();
  expect(await reply).toBe('did a\n');
  expect([first.lines, second.lines]).toEqual([[], ['a']]);
});

test('an unreachable server closes the connection', async () => {
  const { port } = await lineServer();
  for (const close of closings.splice(0)) await close();
  expect(await new Client(await proxyTo(port)).send('a\n', 'did a\n')).toBe('(closed)');
});

test('a large reply arrives whole before a server closes the connection', async () => {
  const server = createServer((socket) => socket.end('x'.repeat(5_000_000)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => server.close());
  const proxy = await proxyTo((server.address() as AddressInfo).port);
  const reply = await new Client(proxy).send('a\n', 'never');
  expect(reply).toHaveLength(5_000_000 + '(closed)'.length);
});

test('a fault that the protocol cannot inject is refused', async () => {
  const proxy = await proxyTo(1);
  expect(proxy.kinds).toEqual(['loseReply', 'cut']);
  const invalid = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
  expect(() => proxy.arm('throttle', 1)).toThrow(invalid);
  expect(() => proxy.arm('cut', 0)).toThrow(invalid);
  await expect(FaultProxy.open({ target: { port: 1 } } as never)).rejects.toThrow(invalid);
});
