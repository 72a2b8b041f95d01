import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { RedisChannelClient } from './redis-client.ts';

/** Where the server is: a URL, the `RedisOptions` of ioredis (which include Sentinel), or the nodes of a Cluster. */
export type RedisConnection =
  | { readonly url: string; readonly redis?: RedisOptions }
  | { readonly redis: RedisOptions }
  | { readonly cluster: readonly ClusterNode[]; readonly clusterOptions?: ClusterOptions };

/** A client that the package created. */
export interface OwnClient {
  readonly client: RedisChannelClient;
  readonly close: () => Promise<void>;
}

/** Creates a client of ioredis. With `lazyConnect`, it connects with its first command only. */
export async function connect(
  connection: RedisConnection,
  { lazyConnect = false }: { readonly lazyConnect?: boolean } = {},
): Promise<OwnClient> {
  // Imported here only, because a caller that passes a client may not have ioredis. A bundle has the default alone.
  const { Cluster, Redis } = (await import('ioredis')).default;
  const lazy = lazyConnect && { lazyConnect };
  const client =
    'cluster' in connection
      ? new Cluster([...connection.cluster], { ...clusterOptions(connection.clusterOptions), ...lazy })
      : 'url' in connection
        ? new Redis(connection.url, { ...connection.redis, ...REPLIES, ...lazy })
        : new Redis({ ...connection.redis, ...REPLIES, ...lazy });
  return { client, close: () => closeClient(client) };
}

/** Opens a store or a ledger with a client of its own. When that fails, the client is closed. */
export async function openWithClient<T>(
  connection: RedisConnection,
  open: (own: OwnClient) => Promise<T>,
): Promise<T> {
  const own = await connect(connection);
  try {
    return await open(own);
  } catch (error) {
    await own.close();
    throw error;
  }
}

/** Required by the types of ioredis 6. */
const REPLIES = { replyMapping: 'legacy' } as const;

function clusterOptions(options: ClusterOptions = {}) {
  return { ...options, redisOptions: { ...options.redisOptions, ...REPLIES } };
}

/** Closes a client after the replies to the commands that it has sent. */
async function closeClient(client: Redis | Cluster): Promise<void> {
  if (client.status === 'ready') await client.quit().catch(() => undefined);
  client.disconnect();
}
