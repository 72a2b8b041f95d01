import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { RedisChannelClient } from './redis-client.ts';

/** Where the server is: a URL, the `RedisOptions` of ioredis (which include Sentinel), or the nodes of a Cluster. */
export type RedisConnection =
  | { readonly url: string; readonly redis?: RedisOptions }
  | { readonly redis: RedisOptions }
  | { readonly cluster: readonly ClusterNode[]; readonly clusterOptions?: ClusterOptions };

/** Options of `connect`. */
export interface ConnectOptions {
  /** The client connects with its first command only. */
  readonly lazyConnect?: boolean;
}

/** How to close each client that this package created. */
const closings = new WeakMap<object, () => Promise<void>>();

/** Closes a client after the replies to the commands that it has sent, if this package created it. */
export async function closeOwnClient(client: object): Promise<void> {
  await closings.get(client)?.();
}

/** Creates a client of ioredis. */
export async function connect(
  connection: RedisConnection,
  { lazyConnect = false }: ConnectOptions = {},
): Promise<RedisChannelClient> {
  // Imported here only, because a caller that passes a client may not have ioredis. A bundle has the default alone.
  const { Cluster, Redis } = (await import('ioredis')).default;
  const lazy = lazyConnect && { lazyConnect };
  const client =
    'cluster' in connection
      ? new Cluster([...connection.cluster], { ...clusterOptions(connection.clusterOptions), ...lazy })
      : 'url' in connection
        ? new Redis(connection.url, { ...connection.redis, ...REPLIES, ...lazy })
        : new Redis({ ...connection.redis, ...REPLIES, ...lazy });
  closings.set(client, () => closeClient(client));
  return client;
}

/** Required by the types of ioredis 6. */
const REPLIES = { replyMapping: 'legacy' } as const;

function clusterOptions(options: ClusterOptions = {}) {
  return { ...options, redisOptions: { ...options.redisOptions, ...REPLIES } };
}

async function closeClient(client: Redis | Cluster): Promise<void> {
  if (client.status === 'ready') await client.quit().catch(() => undefined);
  client.disconnect();
}
