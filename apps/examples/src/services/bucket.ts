import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const MISSING = '<Error><Code>NoSuchKey</Code><Message>There is no such key.</Message></Error>';

/** A bucket on a free port of this machine, by the protocol of S3: objects are put, got and deleted. Its URL. */
export async function startBucket(): Promise<string> {
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
  // Neither it nor its connections keep the program from ending.
  server
    .on('connection', (socket) => void socket.unref())
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
