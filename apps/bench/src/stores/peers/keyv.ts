import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import type { StorePeer, StorePlace } from '../store-peer.ts';
import { messagesOf } from './compare-and-set.ts';

const KEY = 'run';

/** `@keyv/redis`: the whole document under one key, without a version. */
export function keyv({ url }: StorePlace): StorePeer {
  const store = new Keyv(new KeyvRedis(url));
  return {
    prepare:
      ({ document }) =>
      () =>
        store.set(KEY, document),
    messages: async () => messagesOf(await store.get<unknown>(KEY)),
    close: () => store.disconnect(),
  };
}
