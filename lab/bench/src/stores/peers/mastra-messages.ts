import type { StorePeer, StorePlace } from '../store-peer.ts';
import { mastraRedis } from './mastra.ts';

interface Domains {
  readonly memory: Memory;
}

interface Memory {
  saveThread(init: { readonly thread: object }): Promise<unknown>;
  saveMessages(init: { readonly messages: readonly object[] }): Promise<unknown>;
  listMessages(query: object): Promise<{ readonly messages: readonly object[] }>;
}

const THREAD = { threadId: 'run', resourceId: 'bench' };

/** `@mastra/redis`: the messages that are new, as text, in a thread. It keeps no steps and checks no version. */
export async function mastraMessages(place: StorePlace): Promise<StorePeer> {
  const store = await mastraRedis<Domains>(place);
  const memory = await store.getStore('memory');
  if (!memory) throw new Error('@mastra/redis keeps no messages.');
  const { threadId: id, resourceId } = THREAD;
  const at = new Date();
  await memory.saveThread({ thread: { id, resourceId, createdAt: at, updatedAt: at } });
  return {
    prepare: ({ messages }) => {
      const added = messages.map((message) => {
        const parts = [{ type: 'text', text: JSON.stringify(message.content) }];
        const role = message.role === 'user' ? 'user' : 'assistant';
        return { ...THREAD, id: message.id, role, createdAt: new Date(), content: { format: 2, parts } };
      });
      return () => memory.saveMessages({ messages: added });
    },
    messages: async () => (await memory.listMessages({ threadId: id, perPage: false })).messages.length,
    close: () => store.close(),
  };
}
