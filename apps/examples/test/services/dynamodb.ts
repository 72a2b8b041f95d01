import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';
import type { Service } from './service.ts';

/** A DynamoDB in memory. */
export async function startDynamoDb(): Promise<Service> {
  const server = dynalite({ createTableMs: 0 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'unused',
      AWS_SECRET_ACCESS_KEY: 'unused',
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
