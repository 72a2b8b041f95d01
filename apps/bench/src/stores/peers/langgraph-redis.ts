import type { Message } from '@holdfast/core';
import { toolCallsOf } from '@holdfast/core';
import { load } from '../../../peers/load.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';

type MessageClass = new (fields: object) => object;

interface Messages {
  readonly AIMessage: MessageClass;
  readonly HumanMessage: MessageClass;
  readonly ToolMessage: MessageClass;
}

interface Checkpoints {
  readonly emptyCheckpoint: () => object;
  readonly uuid6: (sequence: number) => string;
}

interface RedisSavers {
  readonly RedisSaver: new (client: object) => RedisSaver;
}

interface RedisSaver {
  put(config: object, checkpoint: object, metadata: object, versions: object): Promise<object>;
  putWrites(config: object, writes: readonly object[], taskId: string): Promise<void>;
  getTuple(config: object): Promise<{ readonly checkpoint: Checkpoint } | undefined>;
}

interface Checkpoint {
  readonly channel_values: { readonly [CHANNEL]?: readonly object[] };
}

interface Redis {
  readonly createClient: (init: { readonly url: string }) => Client;
}

/** What the saver calls of it. */
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

const { AIMessage, HumanMessage, ToolMessage } = await load<Messages>('@langchain/core/messages');
const { emptyCheckpoint, uuid6 } = await load<Checkpoints>('@langchain/langgraph-checkpoint');
const { RedisSaver } = await load<RedisSavers>('@langchain/langgraph-checkpoint-redis');
const { createClient } = await load<Redis>('redis');

const CHANNEL = 'messages';
const THREAD = { thread_id: 'run', checkpoint_ns: '' };

/**
 * `RedisSaver` of `@langchain/langgraph-checkpoint-redis`. It needs RedisJSON and RediSearch, which a plain Redis has not:
 * see `shim`. A step is one superstep: the writes of its task, then the checkpoint (LangGraph's own agent makes two).
 */
export async function langgraphRedis({ url }: StorePlace): Promise<StorePeer> {
  const client = createClient({ url });
  await client.connect();
  const saver = new RedisSaver(shim(client));
  const messages: object[] = [];
  let config: object = { configurable: THREAD };
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
      const metadata = { source: 'loop', step: index, parents: {} };
      return async () => {
        if (index > 0) await saver.putWrites(config, [[CHANNEL, added]], `task-${index}`);
        config = await saver.put(config, checkpoint, metadata, { [CHANNEL]: index + 1 });
      };
    },
    messages: async () => (await saver.getTuple(config))?.checkpoint.channel_values[CHANNEL]?.length ?? 0,
    close: () => client.quit(),
  };
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

function toLangChain(message: Message): object {
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
      args: input,
      type: 'tool_call',
    })),
  });
}
