import { Redis } from 'ioredis';
import type { StorePeer, StorePlace } from '../store-peer.ts';

/** Asks the server for nothing: a round trip. */
export function ping({ url }: StorePlace): StorePeer {
  const client = new Redis(url);
  let messages = 0;
  return {
    prepare: (step) => {
      messages = step.state.messages.length;
      return () => client.ping();
    },
    messages: async () => messages,
    close: () => client.quit(),
  };
}
