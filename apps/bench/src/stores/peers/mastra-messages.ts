import type { StoreMemoryRedis } from '@mastra/redis';
import { RedisStore } from '@mastra/redis';
import type { StorePeer, StorePlace } from '../store-peer.ts';

const THREAD = { threadId: 'run', resourceId: 'bench' };

type MastraMessage = Parameters<StoreMemoryRedis['saveMessages']>[0]['messages'][number];

/** `@mastra/redis`: the messages that are new, as text, in a thread. It keeps no steps and checks no version. */
export async function mastraMessages({ url }: StorePlace): Promise<StorePeer> {
  const store = new RedisStore({ id: 'bench', connectionString: url });
  await store.init();
  const memory = await store.getStore('memory');
  if (!memory) throw new Error('@mastra/redis keeps no messages.');
  const { threadId: id, resourceId } = THREAD;
  const at = new Date();
  await memory.saveThread({ thread: { id, resourceId, createdAt: at, updatedAt: at } });
  return {
    prepare: ({ messages }) => {
      const added = messages.map((message): MastraMessage => {
        const parts = [{ type: 'text' as const, text: JSON.stringify(message.content) }];
        const role = message.role === 'user' ? 'user' : 'assistant';
        return { ...THREAD, id: message.id, role, createdAt: new Date(), content: { format: 2, parts } };
      });
      return () => memory.saveMessages({ messages: added });
    },
    messages: async () => (await memory.listMessages({ threadId: id, perPage: false })).messages.length,
    close: () => store.close(),
  };
}
