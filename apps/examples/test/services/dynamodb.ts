import { DynamoDbServer } from 'test-servers';
import type { Service } from './service.ts';

/** A DynamoDB in memory. */
export async function startDynamoDb(): Promise<Service> {
  const server = await DynamoDbServer.start();
  return {
    env: {
      AWS_ENDPOINT_URL_DYNAMODB: server.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'unused',
      AWS_SECRET_ACCESS_KEY: 'unused',
    },
    close: () => server.stop(),
  };
}
