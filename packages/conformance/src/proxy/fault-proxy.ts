import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/store';
import type { Fault, StoreCost, StoreFaults } from '../store/case/store-case.ts';
import { relay } from './relay.ts';
import type { WireProtocol } from './wire-protocol.ts';

/** The address of a server. */
export interface ProxyTarget {
  readonly port: number;
  /** The default is `127.0.0.1`. */
  readonly host?: string | undefined;
}

export interface FaultProxyOptions {
  /** The server behind the proxy. */
  readonly target: ProxyTarget;
  readonly protocol: WireProtocol;
}

const checkOptions = optionsCheck<FaultProxyOptions>('FaultProxy.open', {
  target: mustBe.required(mustBe.object),
  protocol: mustBe.required(mustBe.objectWith('an object with scanRequest()', ['scanRequest'])),
});

/**
 * A TCP proxy between the client of a store and its server. It counts requests and bytes, and makes one request fail: it
 * is the abilities `faults` and `measure` of a harness.
 */
export class FaultProxy implements StoreFaults {
  /** The faults that the proxy can inject: `throttle` only if the protocol has a refusal. */
  readonly kinds: readonly Fault[];
  /** The server to which new connections lead. Tests of a failover change it. */
  target: ProxyTarget;
  /** While this promise is pending, new connections wait. */
  gate: Promise<void> | undefined;
  private readonly protocol: WireProtocol;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly cost = { requests: 0, bytes: 0 };
  private armed: { readonly fault: Fault; left: number } | undefined;

  private constructor({ target, protocol }: FaultProxyOptions) {
    this.target = target;
    this.protocol = protocol;
    this.kinds = protocol.throttle ? ['loseReply', 'cut', 'throttle'] : ['loseReply', 'cut'];
    this.server = createServer((client) => {
      this.track(client);
      void Promise.resolve(this.gate).then(() => this.relay(client));
    });
  }

  /**
   * Starts a proxy on a free port of this machine.
   * @throws TypeError or RangeError `ARGUMENT_INVALID`
   */
  static async open(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(checkOptions(options));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The port of the proxy, at `127.0.0.1`. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Returns the counted requests, and the bytes of all connections in both directions. */
  readonly measure = async (): Promise<StoreCost> => ({ ...this.cost });

  /**
   * Injects the fault into the nth counted request from now on, where 1 is the next request.
   * @throws TypeError or RangeError `ARGUMENT_INVALID`
   */
  arm(fault: Fault, nth: number): void {
    checkArgument('fault', fault, mustBe.oneOf(this.kinds));
    this.armed = { fault, left: checkArgument('nth', nth, mustBe.wholeNumber(1)) };
  }

  /** Removes the fault. Returns whether a request met it. */
  disarm(): boolean {
    const isMet = this.armed?.left === 0;
    this.armed = undefined;
    return isMet;
  }

  /** Closes all connections, and frees the port. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private relay(client: Socket): void {
    const { port, host = '127.0.0.1' } = this.target;
    const server = this.track(connect({ port, host }));
    const onBytes = (bytes: number): void => void (this.cost.bytes += bytes);
    const faultOf = (request: Buffer): Fault | undefined => this.faultOf(request);
    relay({ client, server, protocol: this.protocol, onBytes, faultOf });
  }

  private track(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => this.sockets.delete(socket));
  }

  private faultOf(request: Buffer): Fault | undefined {
    if (this.protocol.isCounted?.(request) === false) return undefined;
    this.cost.requests += 1;
    if (!this.armed || this.armed.left === 0) return undefined;
    this.armed.left -= 1;
    return this.armed.left === 0 ? this.armed.fault : undefined;
  }
}
