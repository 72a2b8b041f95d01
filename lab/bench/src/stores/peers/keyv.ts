import { load } from '../../../peers/load.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';
import { messagesOf } from './compare-and-set.ts';

interface KeyvRedisModule {
  readonly default: new (url: string) => object;
}

interface KeyvModule {
  readonly Keyv: new (store: object) => Keyv;
}

interface Keyv {
  set(key: string, value: object): Promise<unknown>;
  get(key: string): Promise<unknown>;
  disconnect(): Promise<unknown>;
}

const { default: KeyvRedis } = await load<KeyvRedisModule>('@keyv/redis');
const { Keyv } = await load<KeyvModule>('keyv');

const KEY = 'run';

/** `@keyv/redis`: the whole document under one key, without a version. */
export function keyv({ url }: StorePlace): StorePeer {
  const store = new Keyv(new KeyvRedis(url));
  return {
    prepare:
      ({ document }) =>
      () =>
        store.set(KEY, document),
    messages: async () => messagesOf(await store.get(KEY)),
    close: () => store.disconnect(),
  };
}
