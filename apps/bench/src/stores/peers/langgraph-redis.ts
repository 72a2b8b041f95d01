import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { Message } from '@holdfast/core';
import { toolCallsOf } from '@holdfast/core';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { RedisSaver } from '@langchain/langgraph-checkpoint-redis';
import { createClient } from 'redis';
import type { StorePeer, StorePlace } from '../store-peer.ts';

const CHANNEL = 'messages';
const THREAD = { thread_id: 'run', checkpoint_ns: '' };

/**
 * `RedisSaver` of `@langchain/langgraph-checkpoint-redis`. It needs RedisJSON and RediSearch, which a plain Redis has not:
 * see `shim`. A step is one superstep: the writes of its task, then the checkpoint (LangGraph's own agent makes two).
 */
export async function langgraphRedis({ url }: StorePlace): Promise<StorePeer> {
  const client: Client = createClient({ url });
  await client.connect();
  // The saver calls no more of its client than the shim has.
  const saver = new RedisSaver(shim(client) as unknown as ConstructorParameters<typeof RedisSaver>[0]);
  const messages: BaseMessage[] = [];
  let config: { readonly configurable: object } = { configurable: THREAD };
  return {
    prepare: ({ index, messages: fresh }) => {
      const added = fresh.map(toLangChain);
      messages.push(...added);
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(index),
        channel_values: { [CHANNEL]: [...messages] },
        channel_versions: { [CHANNEL]: index + 1 },
      };
      const metadata = { source: 'loop', step: index, parents: {} } as const;
      return async () => {
        if (index > 0) await saver.putWrites(config, [[CHANNEL, added]], `task-${index}`);
        config = (await saver.put(config, checkpoint, metadata, { [CHANNEL]: index + 1 })) as typeof config;
      };
    },
    messages: async () => {
      const values = (await saver.getTuple(config))?.checkpoint.channel_values;
      return (values?.[CHANNEL] as readonly unknown[] | undefined)?.length ?? 0;
    },
    close: () => client.quit(),
  };
}

type Client = ReturnType<typeof createClient>;

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
    zAdd: (...args: Parameters<Client['zAdd']>) => client.zAdd(...args),
  };
}

function toLangChain(message: Message): BaseMessage {
  const { id } = message;
  if (message.role === 'user') return new HumanMessage({ id, content: JSON.stringify(message.content) });
  if (message.role === 'tool') {
    const [result] = message.content;
    return new ToolMessage({
      id,
      content: JSON.stringify(result?.output),
      tool_call_id: result?.toolCallId ?? '',
    });
  }
  return new AIMessage({
    id,
    content: '',
    tool_calls: toolCallsOf(message).map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      args: input as Record<string, unknown>,
      type: 'tool_call',
    })),
  });
}
