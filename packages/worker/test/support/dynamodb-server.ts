import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '@holdfast/store-dynamodb';
import dynalite from 'dynalite';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The credentials, as a client reads them from the environment. */
export const AWS_ENV = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

/** A DynamoDB in memory with the table `sessions`. */
export interface DynamoDbServer {
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  readonly stop: () => void;
}

export async function startDynamoDb(): Promise<DynamoDbServer> {
  const server = dynalite({ createTableMs: 0 }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint, region: 'eu-west-1', credentials });
  await client.send(new CreateTableCommand(tableDefinition('sessions')));
  const stop = (): void => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { endpoint, client, stop };
}
