import type { Message } from '@holdfast/core';
import { toolCallsOf } from '@holdfast/core/driver';
import { load } from '../../../peers/load.ts';
import type { StorePeer } from '../store-peer.ts';

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

/** A checkpointer of LangGraph. */
export interface Saver {
  put(config: object, checkpoint: object, metadata: object, versions: object): Promise<object>;
  putWrites(config: object, writes: readonly object[], taskId: string): Promise<void>;
  getTuple(config: object): Promise<{ readonly checkpoint: Checkpoint } | undefined>;
}

interface Checkpoint {
  readonly channel_values: { readonly [CHANNEL]?: readonly object[] };
}

const { AIMessage, HumanMessage, ToolMessage } = await load<Messages>('@langchain/core/messages');
const { emptyCheckpoint, uuid6 } = await load<Checkpoints>('@langchain/langgraph-checkpoint');

const CHANNEL = 'messages';
const THREAD = { thread_id: 'run', checkpoint_ns: '' };

/**
 * A run that a checkpointer keeps. A step is one superstep: the writes of its task, then the checkpoint (LangGraph's own
 * agent makes two).
 */
export function savedBy(saver: Saver, close: () => Promise<unknown>): StorePeer {
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
    close,
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
