import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { mustBe, type OptionChecks } from '@holdfast/core/store';

/** The options of a client. The client reads them from the environment when they are omitted. */
type ClientOptions = Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'>;

export const CLIENT_CHECKS: OptionChecks<ClientOptions> = {
  credentials: mustBe.secret(mustBe.anything),
  endpoint: mustBe.anything,
  region: mustBe.anything,
};

const CONNECTION_MS = 3_000;
const REQUEST_MS = 15_000;

/** Creates a client with time limits. @param options `ClientOptions`, each of which may be `undefined` */
export function newClient(options: object): DynamoDBClient {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return new DynamoDBClient({
    ...Object.fromEntries(given),
    requestHandler: { connectionTimeout: CONNECTION_MS, requestTimeout: REQUEST_MS },
  });
}

/** Opens a store or a ledger with a client of its own. When that fails, the client is destroyed. */
export async function openWithClient<T>(
  options: object,
  open: (client: DynamoDBClient) => Promise<T>,
): Promise<T> {
  const client = newClient(options);
  try {
    return await open(client);
  } catch (error) {
    client.destroy();
    throw error;
  }
}
