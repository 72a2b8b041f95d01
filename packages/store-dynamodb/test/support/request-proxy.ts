import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@holdfast/core';

/** A request as it was sent. */
export interface ProxiedRequest {
  /** For example `PutItem`. */
  readonly operation: string;
  readonly body: JsonObject;
  /** The size of the body in bytes. */
  readonly bytes: number;
}

export interface ProxiedReply {
  readonly status: number;
  readonly body: string;
}

/** Handles a request. Returns a reply, forwarded or invented, or `cut` to close the connection without a reply. */
export type Fault = (
  request: ProxiedRequest,
  forward: (body?: JsonObject) => Promise<ProxiedReply>,
) => Promise<ProxiedReply | 'cut'>;

/** A proxy that reads the requests to the database, and can replace requests and replies. It counts requests. */
export class RequestProxy {
  /** The operations in order, without their bodies, which may be large. */
  readonly operations: string[] = [];
  /** The number and the size of the requests. */
  readonly cost: { requests: number; bytes: number } = { requests: 0, bytes: 0 };
  /** The fault that the proxy injects now. */
  fault: Fault | undefined;
  private readonly agent = new Agent({ keepAlive: true });

  private readonly target: URL;
  private readonly server: Server;

  private constructor(target: URL) {
    this.target = target;
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  static async to(endpoint: string): Promise<RequestProxy> {
    const proxy = new RequestProxy(new URL(endpoint));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.agent.destroy();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await bodyOf(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const proxied = { operation, body: JSON.parse(sent.toString()) as JsonObject, bytes: sent.length };
    this.operations.push(operation);
    const forward = (body?: JsonObject): Promise<ProxiedReply> =>
      this.forward(request.headers, body ? Buffer.from(JSON.stringify(body)) : sent);
    this.cost.requests += 1;
    this.cost.bytes += sent.length;
    const answer = this.fault ? this.fault(proxied, forward) : forward();
    const reply = await answer.catch(() => 'cut' as const);
    if (reply === 'cut') request.socket.destroy();
    else {
      this.cost.bytes += Buffer.byteLength(reply.body);
      response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(reply.body);
    }
  }

  private async forward(headers: IncomingHttpHeaders, body: Buffer): Promise<ProxiedReply> {
    const { agent } = this;
    const outgoing = httpRequest(this.target, {
      agent,
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    });
    outgoing.end(body);
    const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
    const text = (await bodyOf(reply)).toString();
    return { status: reply.statusCode ?? 500, body: text };
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The reply of a throttled table. */
export function throttled(name = 'ProvisionedThroughputExceededException'): ProxiedReply {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'Slow down' });
  return { status: 400, body };
}
