import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '@holdfast/store-dynamodb';
import { DynamoDbServer } from 'test-servers';

/** The credentials, as a client reads them from the environment. */
export const AWS_ENV = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

/** A DynamoDB with the table `sessions`. */
export interface SessionTable {
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  readonly stop: () => Promise<void>;
}

export async function startDynamoDb(): Promise<SessionTable> {
  const server = await DynamoDbServer.start();
  const { endpoint } = server;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint, region: 'eu-west-1', credentials });
  await client.send(new CreateTableCommand(tableDefinition('sessions')));
  const stop = async (): Promise<void> => {
    client.destroy();
    await server.stop();
  };
  return { endpoint, client, stop };
}
