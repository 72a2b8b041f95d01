import { isCluster, type RedisChannelClient, type RedisClient } from '../server/redis-client.ts';

/** The members of a client that a connection of a channel uses. */
export interface LinkClient extends Omit<RedisClient, 'on' | 'nodes'> {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready' | 'close' | 'end' | 'moved' | 'refresh', listener: () => void): unknown;
  on(event: 'smessage', listener: (channel: string, message: string) => void): unknown;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): void;
}

/** A client of one node of a Cluster. */
interface NodeClient {
  readonly options: { readonly host?: string; readonly port?: number };
  duplicate(options: object): LinkClient;
}

/** The members of a client of a Cluster that a channel uses. */
export interface ClusterClient extends LinkClient {
  /** For each slot the addresses of its nodes, the master first. ioredis corrects it after a `MOVED`. */
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(): readonly NodeClient[];
  /** Asks a node for the slots of all nodes. Emits `refresh` when that has succeeded. */
  refreshSlotsCache(callback: () => void): void;
}

/** The time without a byte from the server, after which a connection with an open request is broken. */
const SOCKET_TIMEOUT_MS = 5_000;

/**
 * A request must not wait in a queue, nor be sent again: by then the batch is outdated. The channel subscribes again by
 * itself.
 */
const FAIL_FAST = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  socketTimeout: SOCKET_TIMEOUT_MS,
  replyMapping: 'legacy',
} as const;

type Duplicate = (first: unknown, second?: unknown) => LinkClient;

/** Creates a client of the channel's own, with the options of another. It connects at once. */
export function duplicateClient(client: RedisChannelClient): LinkClient {
  const duplicate = client.duplicate.bind(client) as Duplicate;
  if (!isCluster(client)) return duplicate({ ...FAIL_FAST, lazyConnect: false });
  const { enableOfflineQueue, ...redisOptions } = FAIL_FAST;
  return duplicate([], { enableOfflineQueue, redisOptions, shardedSubscribers: false, lazyConnect: false });
}

/**
 * Creates a client of one node of a Cluster, which never connects again. Returns `undefined` when the Cluster has no node
 * with this address.
 */
export function connectToNode(cluster: ClusterClient, address: string): LinkClient | undefined {
  const node = cluster.nodes().find(({ options: { host, port } }) => `${host}:${port}` === address);
  return node?.duplicate({ ...FAIL_FAST, lazyConnect: false, readOnly: false, retryStrategy: null });
}

/** True for a client of a Cluster. */
export function isClusterClient(client: LinkClient): client is ClusterClient {
  return 'refreshSlotsCache' in client;
}
