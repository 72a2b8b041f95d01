import { isCluster } from '../server/redis-client.ts';
import type { RedisChannelClient, RedisClient } from '../server/redis-client.ts';

/** The members of a client that a connection of a channel uses. */
export interface LinkClient extends Omit<RedisClient, 'on'> {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready' | 'subscribersReady', listener: () => void): unknown;
  on(event: 'smessage', listener: (channel: string, message: string) => void): unknown;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): void;
}

/** Milliseconds without a byte from the server, after which a connection with an open request is broken. */
const SOCKET_TIMEOUT = 5_000;

/**
 * A request must not wait in a queue, nor be sent again: by then the batch is outdated. The channel subscribes again by
 * itself.
 */
const FAIL_FAST = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  socketTimeout: SOCKET_TIMEOUT,
  replyMapping: 'legacy',
} as const;

type Duplicate = (first: unknown, second?: unknown) => LinkClient;

/** Creates a client of the channel's own, with the options of another. It connects at once. */
export function duplicateClient(client: RedisChannelClient): LinkClient {
  const duplicate = client.duplicate.bind(client) as Duplicate;
  if (!isCluster(client)) return duplicate({ ...FAIL_FAST, lazyConnect: false });
  const { enableOfflineQueue, ...redisOptions } = FAIL_FAST;
  return duplicate([], { enableOfflineQueue, redisOptions, shardedSubscribers: true, lazyConnect: false });
}

/** The number of the client's database. */
export function databaseOf(client: RedisChannelClient): number {
  return (client.options as { readonly db?: number }).db ?? 0;
}
