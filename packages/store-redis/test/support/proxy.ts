import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Fault, StoreCost, StoreFaults } from '@holdfast/conformance';

export const FAULTS: readonly Fault[] = ['loseReply', 'cut', 'throttle'];

/** The error reply that the server sends instead of executing a command. */
const REFUSAL = `return redis.error_reply('LOADING Redis is loading the dataset in memory')`;

/**
 * A proxy between a client and a server that counts requests and makes a request fail. It does not count handshakes and
 * INFO, and counts TIME and the reads that follow it as one request.
 */
export class Proxy implements StoreFaults {
  readonly kinds: readonly Fault[] = FAULTS;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly cost = { requests: 0, bytes: 0 };
  /** The port to which new connections lead. */
  target: { readonly port: number; readonly host: string };
  /** While this promise is pending, new connections wait. */
  gate: Promise<void> | undefined;
  private fault: { readonly kind: Fault; left: number } | undefined;

  private constructor(port: number, host: string) {
    this.target = { port, host };
    this.server = createServer((client) => {
      void Promise.resolve(this.gate).then(() => this.relay(client, connect(this.target)));
    });
  }

  static async to(port: number, host = '127.0.0.1'): Promise<Proxy> {
    const proxy = new Proxy(port, host);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  readonly measure = async (): Promise<StoreCost> => ({ ...this.cost });

  arm(kind: Fault, nth: number): void {
    this.fault = { kind, left: nth };
  }

  disarm(): boolean {
    const wasMet = this.fault === undefined;
    this.fault = undefined;
    return wasMet;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private relay(client: Socket, target: Socket): void {
    const both = [client, target];
    const cut = (): void => both.forEach((socket) => socket.destroy());
    for (const socket of both) {
      this.sockets.add(socket);
      socket.on('error', cut).on('close', cut).setNoDelay(true);
    }
    // For a dropped reply: a later reply shows that the server has executed the request.
    let mark: string | undefined;
    target.on('data', (data) => {
      this.cost.bytes += data.length;
      if (mark === undefined) client.write(data);
      else if (data.includes(mark)) cut();
    });
    const requests = new RequestReader();
    client.on('data', (data) => {
      this.cost.bytes += data.length;
      for (const { name, bytes } of requests.read(data)) {
        const fault = mark === undefined ? this.faultOf(name) : undefined;
        if (fault === 'cut') return cut();
        target.write(fault === 'throttle' ? toBytes('EVAL', REFUSAL, '0') : bytes);
        if (fault === 'loseReply') target.write(toBytes('ECHO', (mark = randomUUID())));
      }
    });
  }

  private faultOf(name: string): Fault | undefined {
    if (!['eval', 'evalsha', 'time', 'wait'].includes(name)) return undefined;
    this.cost.requests++;
    if (!this.fault || --this.fault.left > 0) return undefined;
    const { kind } = this.fault;
    this.fault = undefined;
    return kind;
  }
}

interface Request {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Splits the data of a client into requests: `*2\r\n$3\r\nGET\r\n$1\r\na\r\n`. Reads each word once. */
class RequestReader {
  private rest: Buffer = Buffer.alloc(0);
  private begun: { readonly words: Buffer[]; left: number } | undefined;

  read(data: Buffer): readonly Request[] {
    this.rest = Buffer.concat([this.rest, data]);
    const requests: Request[] = [];
    for (let request = this.next(); request; request = this.next()) requests.push(request);
    return requests;
  }

  private next(): Request | undefined {
    this.begun ??= this.begin();
    const { begun } = this;
    if (begun === undefined) return undefined;
    for (; begun.left > 0; begun.left--) {
      const word = this.word();
      if (word === undefined) return undefined;
      begun.words.push(word);
    }
    this.begun = undefined;
    const [, first] = begun.words;
    const name = first?.toString('latin1').split('\r\n')[1]?.toLowerCase() ?? '';
    return { name, bytes: Buffer.concat(begun.words) };
  }

  /** The line with the number of words that follow. */
  private begin(): RequestReader['begun'] {
    const end = this.rest.indexOf('\r\n');
    if (end < 0) return undefined;
    const left = this.number(end);
    return { words: [this.taken(end + 2)], left };
  }

  /** A word and its length, after the whole word has arrived. */
  private word(): Buffer | undefined {
    const end = this.rest.indexOf('\r\n');
    const bytes = end + 2 + this.number(end) + 2;
    return end < 0 || bytes > this.rest.length ? undefined : this.taken(bytes);
  }

  private number(end: number): number {
    return Number(this.rest.toString('latin1', 1, end));
  }

  private taken(bytes: number): Buffer {
    const taken = this.rest.subarray(0, bytes);
    this.rest = this.rest.subarray(bytes);
    return taken;
  }
}

function toBytes(...args: readonly string[]): string {
  const bulk = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${bulk.join('')}`;
}
