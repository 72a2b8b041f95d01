import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';

/** A store in a table, as in `http://127.0.0.1:8000#table`. `midWrite` is called between two requests of a write. */
export async function openDynamoDb(location: string, midWrite?: () => void): Promise<DynamoDbSessionStore> {
  const { hash, origin: endpoint } = new URL(location);
  const client = newDynamoDbClient(endpoint);
  if (midWrite) {
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        midWrite();
        return result;
      },
      { step: 'finalizeRequest', name: 'midWrite' },
    );
  }
  const store = new DynamoDbSessionStore({ client, table: hash.slice(1) });
  return Object.assign(store, { close: async () => client.destroy() });
}

export function newDynamoDbClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}
