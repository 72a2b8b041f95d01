import { load } from '../../../peers/load.ts';
import type { StorePlace } from '../store-peer.ts';

interface MastraRedis<Domains> {
  readonly RedisStore: new (init: object) => RedisStore<Domains>;
}

/** The used members of `@mastra/redis`; `Domains` are its parts. */
interface RedisStore<Domains> {
  init(): Promise<void>;
  getStore<Name extends keyof Domains>(name: Name): Promise<Domains[Name] | undefined>;
  close(): Promise<void>;
}

/** A store of `@mastra/redis`, ready. */
export async function mastraRedis<Domains>({ url }: StorePlace): Promise<RedisStore<Domains>> {
  const { RedisStore } = await load<MastraRedis<Domains>>('@mastra/redis');
  const store = new RedisStore({ id: 'bench', connectionString: url });
  await store.init();
  return store;
}
