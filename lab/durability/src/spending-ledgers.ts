import type { Clock } from '@holdfast/core';
import type { SpendingLedger } from '@holdfast/core/spending';

/** Opens a ledger at a location of `STORES`. */
type OpenLedger = (location: string, clock: Clock) => Promise<SpendingLedger>;

/** The ledgers, by the name of their store. A process loads only the one that it uses. */
export const LEDGERS: Readonly<Record<string, OpenLedger>> = {
  async sqlite(path, clock) {
    const { SqliteSpendingLedger } = await import('@holdfast/store-sqlite');
    return SqliteSpendingLedger.open({ path, clock, busyTimeoutSeconds: 30 });
  },
  async redis(location, clock) {
    const { newRedisClient } = await import('./redis.ts');
    const { RedisSpendingLedger } = await import('@holdfast/store-redis');
    const { client, prefix } = newRedisClient(location);
    const ledger = new RedisSpendingLedger({ client, prefix, clock });
    return Object.assign(ledger, { close: async () => client.disconnect() });
  },
  async dynamodb(location, clock) {
    const [{ DynamoDbSpendingLedger }, { newDynamoDbClient }] = await Promise.all([
      import('@holdfast/store-dynamodb'),
      import('./dynamodb.ts'),
    ]);
    const { hash, origin } = new URL(location);
    const client = newDynamoDbClient(origin);
    const ledger = new DynamoDbSpendingLedger({ client, table: hash.slice(1), clock });
    return Object.assign(ledger, { close: async () => client.destroy() });
  },
};
