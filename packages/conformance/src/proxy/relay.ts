import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Fault } from '../store/case/store-case.ts';
import { RequestReader, type WireProtocol } from './wire-protocol.ts';

interface RelayOptions {
  readonly client: Socket;
  readonly server: Socket;
  readonly protocol: WireProtocol;
  readonly onBytes: (bytes: number) => void;
  /** Returns the fault that a request meets. */
  readonly faultOf: (request: Buffer) => Fault | undefined;
}

/** Relays the data of one connection between a client and its server. */
export function relay({ client, server, protocol, onBytes, faultOf }: RelayOptions): void {
  /** After a request whose reply is lost: the data of the server that ends the connection. Any data by default. */
  let mark: string | undefined;
  const cut = (): void => {
    client.destroy();
    server.destroy();
  };
  const loseReply = (): void => {
    mark = protocol.echo ? randomUUID() : '';
    if (protocol.echo) server.write(protocol.echo(mark));
  };
  const refuse = (): void => {
    const { reply, request } = protocol.throttle ?? {};
    if (reply !== undefined) client.write(reply);
    if (request !== undefined) server.write(request);
  };
  const send = (request: Buffer): void => {
    const fault = mark === undefined ? faultOf(request) : undefined;
    if (fault === 'cut') return cut();
    if (fault === 'throttle') return refuse();
    server.write(request);
    if (fault === 'loseReply') loseReply();
  };
  const requests = new RequestReader(protocol);
  client.on('data', (data) => {
    onBytes(data.length);
    for (const request of requests.read(data)) send(request);
  });
  server.on('data', (data) => {
    onBytes(data.length);
    if (mark === undefined) client.write(data);
    else if (data.includes(mark)) cut();
  });
  join(client, server);
}

/** Ends each of two sockets with the other one, after the data that it must still send. */
function join(client: Socket, server: Socket): void {
  const end = (socket: Socket, peer: Socket): void => {
    socket.setNoDelay(true);
    socket.on('error', () => peer.destroy());
    socket.on('close', () => peer.destroySoon());
  };
  end(client, server);
  end(server, client);
}
