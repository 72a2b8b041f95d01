import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { mustBe, openableChecks, type OpenableChecks, type OptionChecks } from '@holdfast/core/store';
import type { DynamoDbSender } from './requests.ts';
import { TABLE_NAME } from './table-definition.ts';

/** The options of a client. The client reads them from the environment when they are omitted. */
type ClientOptions = Pick<DynamoDBClientConfig, 'credentials' | 'endpoint' | 'region'>;

/** The option of a class that uses a client of the caller. */
interface GivenClient {
  readonly client: DynamoDbSender;
}

type TableChecks<Options> = OpenableChecks<Options, GivenClient, ClientOptions>;

const CLIENT_CHECKS: OptionChecks<ClientOptions> = {
  credentials: mustBe.secret(mustBe.anything),
  endpoint: mustBe.anything,
  region: mustBe.anything,
};

/** The check of the option `table`. */
export const TABLE_CHECK = { table: mustBe.required(TABLE_NAME) };

/** Creates the checks of a class on a table. */
export function tableChecks<Options extends object>(
  name: string,
  common: OptionChecks<Options>,
  advice: Readonly<Record<string, string>> = {},
): TableChecks<Options> {
  const expected = `a DynamoDBClient, or use ${name}.open({ table })`;
  return openableChecks<Options, GivenClient, ClientOptions>(name, {
    common,
    given: { client: mustBe.required(mustBe.objectWith(expected, ['send'])) },
    own: CLIENT_CHECKS,
    synonyms: { tableName: 'table', TableName: 'table' },
    advice,
  });
}

const CONNECTION_MS = 3_000;
const REQUEST_MS = 15_000;

/** The clients that this package created. */
const ownClients = new WeakSet<object>();

/** Destroys a client if this package created it. */
export function destroyOwnClient(client: DynamoDbSender): void {
  if (client instanceof DynamoDBClient && ownClients.has(client)) client.destroy();
}

/** Creates a client with time limits. @param options `ClientOptions`, each of which may be `undefined` */
function newClient(options: object): DynamoDBClient {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const client = new DynamoDBClient({
    ...Object.fromEntries(given),
    requestHandler: { connectionTimeout: CONNECTION_MS, requestTimeout: REQUEST_MS },
  });
  ownClients.add(client);
  return client;
}

/** Opens a class with a client of its own, which the class destroys. When that fails, the client is destroyed. */
export async function openOnTable<Options extends object, T>(
  checks: TableChecks<Options>,
  options: Options & ClientOptions,
  open: (options: Omit<Options & ClientOptions, keyof ClientOptions> & GivenClient) => Promise<T>,
): Promise<T> {
  const { credentials, endpoint, region, ...rest } = checks.ofOpen(options);
  const client = newClient({ credentials, endpoint, region });
  try {
    return await open({ ...rest, client });
  } catch (error) {
    client.destroy();
    throw error;
  }
}
