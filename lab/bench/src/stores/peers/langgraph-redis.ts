import { load } from '../../../peers/load.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';
import { savedBy, type Saver } from './langgraph.ts';

interface RedisSavers {
  readonly RedisSaver: new (client: object) => Saver;
}

interface Redis {
  readonly createClient: (init: { readonly url: string }) => Client;
}

/** The members that the saver calls. */
interface Client {
  connect(): Promise<unknown>;
  quit(): Promise<unknown>;
  ping(): Promise<unknown>;
  set(key: string, value: string, options: object): Promise<unknown>;
  get(key: string): Promise<string | null>;
  exists(key: string): Promise<number>;
  keys(pattern: string): Promise<readonly string[]>;
  zAdd(key: string, members: object): Promise<number>;
}

const { RedisSaver } = await load<RedisSavers>('@langchain/langgraph-checkpoint-redis');
const { createClient } = await load<Redis>('redis');

/**
 * `RedisSaver` of `@langchain/langgraph-checkpoint-redis`. It needs RedisJSON and RediSearch, which a plain Redis has not:
 * see `shim`.
 */
export async function langgraphRedis({ url }: StorePlace): Promise<StorePeer> {
  const client = createClient({ url });
  await client.connect();
  return savedBy(new RedisSaver(shim(client)), () => client.quit());
}

/**
 * Stands in for the modules, and flatters them: JSON.SET and JSON.GET are SET and GET of JSON texts, so nothing is parsed
 * on the server; FT.CREATE is PING, so nothing is indexed.
 */
function shim(client: Client): object {
  return {
    json: {
      set: (key: string, _path: string, value: unknown, options: { readonly NX?: true } = {}) =>
        client.set(key, JSON.stringify(value), options),
      get: async (key: string): Promise<unknown> => {
        const json = await client.get(key);
        return json === null ? null : JSON.parse(json);
      },
    },
    ft: { create: () => client.ping() },
    exists: (key: string) => client.exists(key),
    keys: (pattern: string) => client.keys(pattern),
    zAdd: (key: string, members: object) => client.zAdd(key, members),
  };
}
