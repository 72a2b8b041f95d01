import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Service } from './service.ts';

const MISSING = '<Error><Code>NoSuchKey</Code><Message>There is no such key.</Message></Error>';

/** A bucket in memory, by the protocol of S3: objects are put, got and deleted. */
export async function startBucket(): Promise<Service> {
  const objects = new Map<string, Buffer>();
  const answer = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const { method, url = '' } = request;
    const [path = ''] = url.split('?');
    if (method === 'PUT') objects.set(path, await buffer(request));
    if (method === 'DELETE') objects.delete(path);
    const found = objects.get(path);
    if (method === 'GET') response.writeHead(found ? 200 : 404).end(found ?? MISSING);
    else response.writeHead(method === 'PUT' ? 200 : 204).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    env: { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
