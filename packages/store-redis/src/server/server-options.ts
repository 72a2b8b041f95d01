import { invalidArgument } from '@holdfast/core';
import {
  mustBe,
  openableChecks,
  type ArgumentCheck,
  type OpenableChecks,
  type OptionChecks,
} from '@holdfast/core/store';
import { closeOwnClient, connect, type ConnectOptions, type RedisConnection } from './connect.ts';
import type { RedisChannelClient, RedisClient } from './redis-client.ts';

export const DEFAULT_TIMEOUT_SECONDS = 10;

/** The option of a class that uses a client of the caller. */
interface GivenClient<Client> {
  readonly client: Client;
}

/** The checks of a class that connects to a server. */
export type ServerChecks<Options, Client> = OpenableChecks<Options, GivenClient<Client>, AnyConnection>;

const PREFIX: ArgumentCheck = {
  expected: 'a string without braces',
  accepts: (value) =>
    typeof value === 'string' && value !== '' && value.isWellFormed() && !/[{}]/.test(value),
  type: 'string',
};

const TIMEOUT_SECONDS: ArgumentCheck = {
  expected: 'a number of seconds above 0, at most 1,000,000',
  accepts: (value) => typeof value === 'number' && value > 0 && value <= 1_000_000,
  type: 'number',
};

/** The members of all forms of `RedisConnection`. */
interface AnyConnection {
  readonly url?: unknown;
  readonly redis?: unknown;
  readonly cluster?: unknown;
  readonly clusterOptions?: unknown;
}

const CONNECTION_CHECKS: OptionChecks<AnyConnection> = {
  url: mustBe.secret(mustBe.string),
  redis: mustBe.object,
  cluster: mustBe.listOf('nodes, as in cluster: [{ host, port }]'),
  clusterOptions: mustBe.object,
};

/** The check of the option `prefix`. */
export const PREFIX_CHECK = { prefix: PREFIX };

/** The checks of the options that a store and a ledger share. */
export const SERVER_CHECKS = { ...PREFIX_CHECK, timeoutSeconds: TIMEOUT_SECONDS, onWarning: mustBe.function };

/** The parts of the checks in which the classes differ. */
interface ServerCheckParts {
  /** Default: the class checks its client itself. */
  readonly client?: ArgumentCheck;
  readonly advice?: Readonly<Record<string, string>>;
}

/** Creates the checks of a class that connects to a server. */
export function serverChecks<Options extends object, Client extends RedisClient = RedisClient>(
  name: string,
  common: OptionChecks<Options>,
  { client = mustBe.anything, advice = {} }: ServerCheckParts = {},
): ServerChecks<Options, Client> {
  const connection = `use ${name}.open({ url }) or ${name}.open({ redis: { host, port } })`;
  const { ofNew, ofOpen } = openableChecks<Options, GivenClient<Client>, AnyConnection>(name, {
    common,
    given: { client },
    own: CONNECTION_CHECKS,
    synonyms: { keyPrefix: 'prefix', namespace: 'prefix' },
    advice: { host: connection, port: connection, password: connection, ...advice },
  });
  return {
    ofNew,
    ofOpen(options) {
      const { url, redis, cluster } = ofOpen(options);
      if (url !== undefined || redis !== undefined || cluster !== undefined) return options;
      throw invalidArgument(`${name}.open needs one of the options url, redis and cluster.`, TypeError);
    },
  };
}

/** Opens a class with a client of its own, which the class closes. When that fails, the client is closed. */
export async function openOnServer<Options extends object, T>(
  checks: ServerChecks<Options, RedisChannelClient>,
  options: Options & RedisConnection,
  open: (
    options: Omit<Options & AnyConnection, keyof AnyConnection> & GivenClient<RedisChannelClient>,
  ) => Promise<T>,
  connecting: ConnectOptions = {},
): Promise<T> {
  const {
    url: _url,
    redis: _redis,
    cluster: _cluster,
    clusterOptions: _,
    ...rest
  } = checks.ofOpen<Options & AnyConnection>(options);
  const client = await connect(options, connecting);
  try {
    return await open({ ...rest, client });
  } catch (error) {
    await closeOwnClient(client);
    throw error;
  }
}

/** The default of `onWarning`. */
export function warn(message: string): void {
  process.emitWarning(message, 'HoldfastWarning');
}
