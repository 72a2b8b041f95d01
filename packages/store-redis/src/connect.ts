import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { RedisClient } from './redis-client.ts';

/** Where the server is: a URL, what ioredis calls `RedisOptions` (with which Sentinel works too), or a Cluster. */
export type RedisConnection =
  | { readonly url: string; readonly redis?: RedisOptions }
  | { readonly redis: RedisOptions }
  | { readonly cluster: readonly ClusterNode[]; readonly clusterOptions?: ClusterOptions };

/** A client, and how it is closed. */
export interface OwnClient {
  readonly client: RedisClient;
  readonly close: () => Promise<void>;
}

/** A client of ioredis. It connects with its first command. */
export async function connect(connection: RedisConnection): Promise<OwnClient> {
  // Only here: whoever passes a client in may have another one than ioredis.
  const { Cluster, Redis } = await import('ioredis');
  const client =
    'cluster' in connection
      ? new Cluster([...connection.cluster], clusterOptions(connection.clusterOptions))
      : 'url' in connection
        ? new Redis(connection.url, { ...connection.redis, ...REPLIES })
        : new Redis({ ...connection.redis, ...REPLIES });
  return { client, close: () => closed(client) };
}

/** The types of ioredis 6 ask for it. */
const REPLIES = { replyMapping: 'legacy' } as const;

function clusterOptions(options: ClusterOptions = {}) {
  return { ...options, redisOptions: { ...options.redisOptions, ...REPLIES } };
}

/** Replies that are under way still come. */
async function closed(client: Redis | Cluster): Promise<void> {
  if (client.status === 'ready') await client.quit().catch(() => undefined);
  client.disconnect();
}
