import {
  BackedSpendingLedger,
  KEEP_IDS_SECONDS,
  spendingOptionChecks,
  type SpendingLedgerOptions,
} from '@holdfast/core/spending';
import type { RedisConnection } from '../server/connect.ts';
import { RedisCalls } from '../server/redis-calls.ts';
import { checkClient, type RedisClient } from '../server/redis-client.ts';
import { ServerClock } from '../server/server-clock.ts';
import {
  DEFAULT_TIMEOUT_SECONDS,
  openOnServer,
  SERVER_CHECKS,
  serverChecks,
  warn,
} from '../server/server-options.ts';
import { RedisSpendingBackend } from './redis-spending-backend.ts';

/** The options of a ledger in Redis, without its connection. */
export interface RedisLedgerOptions extends SpendingLedgerOptions {
  /** The start of all keys, without braces; default `holdfast-spending`. */
  readonly prefix?: string | undefined;
  /** The seconds for which the ledger retries one command, also while no server replies; default 10. */
  readonly timeoutSeconds?: number | undefined;
  /** Called with a warning when the server may evict accounts; default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The options of a ledger with a client that the caller created. */
export interface RedisSpendingLedgerOptions extends RedisLedgerOptions {
  /** The client. `close()` does not close it. */
  readonly client: RedisClient;
}

const checks = serverChecks<RedisLedgerOptions>('RedisSpendingLedger', {
  ...spendingOptionChecks,
  ...SERVER_CHECKS,
});

/**
 * Counts in Redis or Valkey what owners spend: on one server, behind Sentinel, or in a Cluster. Windows and reservations
 * use the clock of the server, unless the caller sets the option `clock`.
 *
 * @example
 * const ledger = new RedisSpendingLedger({ client: new Redis('redis://localhost') });
 */
export class RedisSpendingLedger extends BackedSpendingLedger {
  private readonly redis: RedisSpendingBackend;

  /**
   * Creates a ledger with a client that the caller created. Sends no commands yet.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for a client with a keyPrefix, an unknown option or an invalid value.
   */
  constructor(options: RedisSpendingLedgerOptions) {
    const redis = newBackend(checks.ofNew(options));
    super(redis);
    this.redis = redis;
  }

  /**
   * Creates a ledger with a client of its own, which `close()` closes.
   * @throws StoreUnavailableError when no server replies; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option,
   * an invalid value or a missing server.
   */
  static open(options: RedisLedgerOptions & RedisConnection): Promise<RedisSpendingLedger> {
    return openOnServer(checks, options, async (given) => {
      const ledger = new RedisSpendingLedger(given);
      await ledger.redis.ready();
      return ledger;
    });
  }
}

function newBackend(options: RedisSpendingLedgerOptions): RedisSpendingBackend {
  const { client, clock, prefix = 'holdfast-spending', keepIdsSeconds = KEEP_IDS_SECONDS } = options;
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, onWarning = warn } = options;
  checkClient(client);
  return new RedisSpendingBackend({
    calls: new RedisCalls({ client, clock: new ServerClock(), timeoutSeconds }),
    keepIds: keepIdsSeconds * 1_000,
    prefix,
    clock,
    onWarning,
  });
}
