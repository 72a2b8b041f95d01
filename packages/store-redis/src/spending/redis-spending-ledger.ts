import {
  BackedSpendingLedger,
  KEEP_IDS_SECONDS,
  spendingOptionChecks,
  type SpendingLedgerOptions,
} from '@holdfast/core/spending';
import { mustBe, optionsCheck, type OptionChecks } from '@holdfast/core/store';
import { openWithClient, type RedisConnection } from '../server/connect.ts';
import { RedisCalls } from '../server/redis-calls.ts';
import { checkClient, type RedisClient } from '../server/redis-client.ts';
import { ServerClock } from '../server/server-clock.ts';
import {
  CONNECTION_CHECKS,
  connectionAdvice,
  DEFAULT_TIMEOUT_SECONDS,
  PREFIX,
  requireConnection,
  TIMEOUT_SECONDS,
  warn,
  type AnyConnection,
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

const LEDGER_CHECKS: OptionChecks<RedisLedgerOptions> = {
  ...spendingOptionChecks,
  prefix: PREFIX,
  timeoutSeconds: TIMEOUT_SECONDS,
  onWarning: mustBe.function,
};

const ADVICE = connectionAdvice('RedisSpendingLedger');

const checkOptions = optionsCheck<RedisSpendingLedgerOptions>(
  'RedisSpendingLedger',
  { ...LEDGER_CHECKS, client: mustBe.anything }, // see checkClient
  { ...ADVICE, url: 'use RedisSpendingLedger.open({ url })' },
);

const checkOpenOptions = optionsCheck<RedisLedgerOptions & AnyConnection>(
  'RedisSpendingLedger.open',
  { ...LEDGER_CHECKS, ...CONNECTION_CHECKS },
  { ...ADVICE, client: 'use new RedisSpendingLedger({ client })' },
);

/**
 * Counts in Redis or Valkey what owners spend: on one server, behind Sentinel, or in a Cluster. Windows and reservations
 * use the clock of the server, unless the caller sets the option `clock`.
 *
 * @example
 * const ledger = new RedisSpendingLedger({ client: new Redis('redis://localhost') });
 */
export class RedisSpendingLedger extends BackedSpendingLedger {
  private readonly redis: RedisSpendingBackend;
  private closeClient: (() => Promise<void>) | undefined;

  /**
   * Creates a ledger with a client that the caller created. Sends no commands yet.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for a client with a keyPrefix, an unknown option or an invalid value.
   */
  constructor(options: RedisSpendingLedgerOptions) {
    const redis = newBackend(checkOptions(options));
    super(redis);
    this.redis = redis;
  }

  /**
   * Creates a ledger with a client of its own, which `close()` closes.
   * @throws StoreUnavailableError when no server replies; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option,
   * an invalid value or a missing server.
   */
  static async open(options: RedisLedgerOptions & RedisConnection): Promise<RedisSpendingLedger> {
    const {
      url,
      redis,
      cluster,
      clusterOptions: _,
      ...ledgerOptions
    } = checkOpenOptions<RedisLedgerOptions & AnyConnection>(options);
    requireConnection({ url, redis, cluster }, 'RedisSpendingLedger');
    return openWithClient(options, async ({ client, close }) => {
      const ledger = new RedisSpendingLedger({ ...ledgerOptions, client });
      ledger.closeClient = close;
      await ledger.redis.ready();
      return ledger;
    });
  }

  /** Closes the ledger, and the client if `open` created it. */
  override async close(): Promise<void> {
    await super.close();
    await this.closeClient?.();
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
