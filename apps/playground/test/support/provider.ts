import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import { afterAll } from 'vitest';

/** A provider with the protocol of OpenAI. */
export interface Provider {
  readonly mock: LLMock;
  /** The environment with which the playground uses it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves when it has received a request that contains `wait for ever`, which it does not answer. */
  readonly isWaiting: Promise<void>;
  /** Resolves when the caller has given up this request. */
  readonly isGivenUp: Promise<void>;
}

async function bytesOf(request: AsyncIterable<Buffer>): Promise<Buffer<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Starts a provider, which ends with the test file. */
export async function startProvider(): Promise<Provider> {
  const mock = new LLMock({ port: 0, strict: true });
  await mock.start();
  const [waiting, givenUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bytesOf(request);
    if (body.includes('wait for ever')) {
      response.once('close', givenUp.resolve);
      return waiting.resolve();
    }
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${mock.url}${request.url}`, { method: 'POST', headers, body });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await mock.stop();
  });
  const { port } = server.address() as AddressInfo;
  const environment = { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  return { mock, environment, isWaiting: waiting.promise, isGivenUp: givenUp.promise };
}
