import type { SessionChannel } from '@holdfast/core/channel';

/** The channels between the processes of a store, by the name of the store. A process loads only the one that it uses. */
export const CHANNELS: Readonly<Record<string, (location: string) => Promise<SessionChannel>>> = {
  async sqlite(location) {
    const { SqliteSessionChannel } = await import('@holdfast/store-sqlite');
    return SqliteSessionChannel.open({ path: `${location}-live` });
  },
  async redis(location) {
    const { RedisSessionChannel } = await import('@holdfast/store-redis');
    const { host, hash } = new URL(location);
    return RedisSessionChannel.open({ url: `redis://${host}`, prefix: hash.slice(1) });
  },
  async dynamodb(location) {
    const { DynamoDbSessionChannel } = await import('@holdfast/store-dynamodb');
    const { newDynamoDbClient } = await import('../dynamodb.ts');
    const { origin, hash } = new URL(location);
    return new DynamoDbSessionChannel({ client: newDynamoDbClient(origin), table: hash.slice(1) });
  },
};
