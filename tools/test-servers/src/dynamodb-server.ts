// oxlint-disable-next-line typescript/triple-slash-reference -- the packages that import this file compile it with their own settings
/// <reference path="./dynalite.d.ts" />
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';

/** A DynamoDB in the memory of this process. */
export class DynamoDbServer {
  /** The URL of the server. */
  readonly endpoint: string;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<DynamoDbServer> {
    const server = dynalite({ createTableMs: 0 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DynamoDbServer(server);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => void this.server.close(resolve));
  }
}
