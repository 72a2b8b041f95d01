import { invalidArgument } from '@holdfast/core';
import { mustBe, optionsCheck, storeOptionChecks } from '@holdfast/core/store';
import { BackedSessionStore } from '@holdfast/core/store';
import type { OptionChecks } from '@holdfast/core/store';
import type { StoreOptions } from '@holdfast/core/store';
import { connect } from './connect.ts';
import type { RedisConnection } from './connect.ts';
import { RedisBackend } from './redis-backend.ts';
import { RedisCalls } from './redis-calls.ts';
import { checkedClient, isCluster } from './redis-client.ts';
import type { RedisClient } from './redis-client.ts';
import { ServerClock } from './server-clock.ts';

/** How sessions are kept in Redis. */
export interface RedisStoreOptions extends StoreOptions {
  /** What all keys begin with, without braces; default `holdfast`. */
  readonly prefix?: string | undefined;
  /**
   * Over how many slots of a Cluster the sessions are spread, 1 to 1,024. Fixed by the first store under a prefix: 1 by
   * default, 32 in a Cluster. A list reads from each.
   */
  readonly buckets?: number | undefined;
  /** The largest message, step or value, in bytes of JSON; default 8 MB. */
  readonly maxValueBytes?: number | undefined;
  /** How long one command is tried, also while no server answers; default 10. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * How many replicas must have a write before it is acknowledged; they get one second. Default 0. Not in a Cluster. The
   * connection waits meanwhile: give the store its own.
   */
  readonly minReplicas?: number | undefined;
  /** Is told when the server may throw sessions away; default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The same, with a client of yours. */
export interface RedisSessionStoreOptions extends RedisStoreOptions {
  /** Stays open when the store is closed. */
  readonly client: RedisClient;
}

const MAX_BUCKETS = 1_024;
const CLUSTER_BUCKETS = 32;
const DEFAULT_MAX_VALUE_BYTES = 8_000_000;
const DEFAULT_TIMEOUT_SECONDS = 10;

const REDIS_CHECKS: OptionChecks<RedisStoreOptions> = {
  ...storeOptionChecks,
  prefix: {
    expected: 'a text without braces',
    accepts: (value) =>
      typeof value === 'string' && value !== '' && value.isWellFormed() && !/[{}]/.test(value),
    type: 'string',
  },
  buckets: mustBe.wholeNumber(1, MAX_BUCKETS),
  maxValueBytes: mustBe.wholeNumber(1),
  timeoutSeconds: {
    expected: 'a number of seconds above 0, at most 1,000,000',
    accepts: (value) => typeof value === 'number' && value > 0 && value <= 1_000_000,
    type: 'number',
  },
  minReplicas: mustBe.wholeNumber(0),
  onWarning: mustBe.function,
};

const CONNECTION = 'give RedisSessionStore.open({ url }) or ({ redis: { host, port } })';
const ADVICE = {
  keyPrefix: 'write "prefix"',
  namespace: 'write "prefix"',
  ttl: 'give an expiry, as in expiry: { afterSeconds: 3600 }',
  host: CONNECTION,
  port: CONNECTION,
  password: CONNECTION,
};

const checkOptions = optionsCheck<RedisSessionStoreOptions>(
  'RedisSessionStore',
  { ...REDIS_CHECKS, client: mustBe.anything }, // see checkedClient
  { ...ADVICE, url: 'RedisSessionStore.open({ url }) makes a client', redis: 'write "client"' },
);

/** The members of all forms of `RedisConnection`. */
interface AnyConnection {
  readonly url?: unknown;
  readonly redis?: unknown;
  readonly cluster?: unknown;
  readonly clusterOptions?: unknown;
}

const checkOpenOptions = optionsCheck<RedisStoreOptions & AnyConnection>(
  'RedisSessionStore.open',
  {
    ...REDIS_CHECKS,
    url: mustBe.secret(mustBe.string),
    redis: mustBe.object,
    cluster: mustBe.listOf('nodes, as in cluster: [{ host, port }]'),
    clusterOptions: mustBe.object,
  },
  { ...ADVICE, client: 'new RedisSessionStore({ client }) takes one' },
);

/**
 * Keeps sessions in Redis or Valkey: on one server, behind Sentinel, or in a Cluster. Leases and expiry go by the
 * server's clock, unless the store is given one.
 *
 * @example
 * const store = new RedisSessionStore({ client: new Redis('redis://localhost') });
 */
export class RedisSessionStore extends BackedSessionStore {
  private readonly redis: RedisBackend;
  private closeClient: (() => Promise<void>) | undefined;

  /**
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for a client with a keyPrefix, an unknown option or a value that does
   * not fit.
   */
  constructor(options: RedisSessionStoreOptions) {
    const { client, clock, expiry, maxInboxItems } = checkOptions(options);
    const redis = backendOf(checkedClient(client), options);
    super(redis, { clock, expiry, maxInboxItems });
    this.redis = redis;
  }

  /**
   * A store with a client of its own, which `close()` closes.
   * @throws StoreUnavailableError when no server answers; StateFormatError when another layout is there; RangeError or
   * TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit, and without a server.
   */
  static async open(options: RedisStoreOptions & RedisConnection): Promise<RedisSessionStore> {
    const {
      url,
      redis,
      cluster,
      clusterOptions: _,
      ...storeOptions
    } = checkOpenOptions<RedisStoreOptions & AnyConnection>(options);
    if (url === undefined && redis === undefined && cluster === undefined)
      throw invalidArgument(`RedisSessionStore.open needs a url, redis or cluster.`, TypeError);
    const { client, close } = await connect(options);
    try {
      const store = new RedisSessionStore({ ...storeOptions, client });
      store.closeClient = close;
      await store.redis.ready();
      return store;
    } catch (error) {
      await close();
      throw error;
    }
  }

  override async close(): Promise<void> {
    await super.close();
    await this.closeClient?.();
  }
}

function backendOf(client: RedisClient, options: RedisStoreOptions): RedisBackend {
  const { prefix = 'holdfast', timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, minReplicas = 0 } = options;
  const { buckets, maxValueBytes = DEFAULT_MAX_VALUE_BYTES, onWarning = warn } = options;
  if (minReplicas > 0 && isCluster(client)) {
    throw invalidArgument('minReplicas does not work in a Cluster, where a connection does not wait for it.');
  }
  const clock = new ServerClock();
  return new RedisBackend({
    calls: new RedisCalls({ client, clock, timeoutSeconds }),
    serverClock: options.clock ? undefined : clock,
    defaultBuckets: isCluster(client) ? CLUSTER_BUCKETS : 1,
    prefix,
    buckets,
    maxValueBytes,
    minReplicas,
    onWarning,
  });
}

function warn(message: string): void {
  process.emitWarning(message, 'HoldfastWarning');
}
