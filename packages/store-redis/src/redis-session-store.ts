import { invalidArgument } from '@holdfast/core';
import { mustBe, storeOptionChecks, BackedSessionStore, type StoreOptions } from '@holdfast/core/store';
import { RedisBackend } from './redis-backend.ts';
import type { RedisConnection } from './server/connect.ts';
import { RedisCalls } from './server/redis-calls.ts';
import { checkClient, isCluster, type RedisClient } from './server/redis-client.ts';
import { ServerClock } from './server/server-clock.ts';
import {
  DEFAULT_TIMEOUT_SECONDS,
  openOnServer,
  SERVER_CHECKS,
  serverChecks,
  warn,
} from './server/server-options.ts';

/** The options of a store in Redis, without its connection. */
export interface RedisStoreOptions extends StoreOptions {
  /** The start of all keys, without braces; default `holdfast`. */
  readonly prefix?: string | undefined;
  /**
   * The number of slots of a Cluster over which the sessions are spread, 1 to 1,024. The first store under a prefix
   * fixes it: 1 by default, 32 in a Cluster. A list reads from each.
   */
  readonly buckets?: number | undefined;
  /** The size limit of one message, step, value or inbox item, in bytes of JSON; default 8,000,000. */
  readonly maxValueBytes?: number | undefined;
  /** The seconds for which the store retries one command, also while no server replies; default 10. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * The number of replicas that must have a write within a second, before the store acknowledges the write. Default 0. Not
   * supported in a Cluster. The connection serves no other commands meanwhile, so the store needs a client of its own.
   */
  readonly minReplicas?: number | undefined;
  /** Called with a warning when the server may evict sessions; default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The options of a store with a client that the caller created. */
export interface RedisSessionStoreOptions extends RedisStoreOptions {
  /** The client. `close()` does not close it. */
  readonly client: RedisClient;
}

const MAX_BUCKETS = 1_024;
const CLUSTER_BUCKETS = 32;
const DEFAULT_MAX_VALUE_BYTES = 8_000_000;

const checks = serverChecks<RedisStoreOptions>(
  'RedisSessionStore',
  {
    ...storeOptionChecks,
    ...SERVER_CHECKS,
    buckets: mustBe.wholeNumber(1, MAX_BUCKETS),
    maxValueBytes: mustBe.wholeNumber(1),
    minReplicas: mustBe.wholeNumber(0),
  },
  { advice: { ttl: 'set "expiry", as in expiry: { afterSeconds: 3600 }' } },
);

/**
 * Stores sessions in Redis or Valkey: on one server, behind Sentinel, or in a Cluster. Leases and expiry use the clock of
 * the server, unless the caller sets the option `clock`.
 *
 * @example
 * const store = new RedisSessionStore({ client: new Redis('redis://localhost') });
 */
export class RedisSessionStore extends BackedSessionStore {
  private readonly redis: RedisBackend;

  /**
   * Creates a store with a client that the caller created. Sends no commands yet.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for a client with a keyPrefix, an unknown option or an invalid value.
   */
  constructor(options: RedisSessionStoreOptions) {
    const { client, clock, expiry, maxInboxItems, keptRevisions } = checks.ofNew(options);
    const redis = newBackend(client, options);
    super(redis, { clock, expiry, maxInboxItems, keptRevisions });
    this.redis = redis;
  }

  /**
   * Creates a store with a client of its own, which `close()` closes.
   * @throws StoreUnavailableError when no server replies; StateFormatError when the prefix has another layout; RangeError or
   * TypeError `ARGUMENT_INVALID` for an unknown option, an invalid value or a missing server.
   */
  static open(options: RedisStoreOptions & RedisConnection): Promise<RedisSessionStore> {
    return openOnServer(checks, options, async (given) => {
      const store = new RedisSessionStore(given);
      await store.redis.ready();
      return store;
    });
  }
}

function newBackend(client: RedisClient, options: RedisStoreOptions): RedisBackend {
  checkClient(client);
  const { prefix = 'holdfast', timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, minReplicas = 0 } = options;
  const { buckets, maxValueBytes = DEFAULT_MAX_VALUE_BYTES, onWarning = warn } = options;
  if (minReplicas > 0 && isCluster(client)) {
    throw invalidArgument('minReplicas is not supported in a Cluster. Omit minReplicas.');
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
