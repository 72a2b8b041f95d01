// A worker with a channel. It takes one step with a tool, then writes two words, and ends when it is stopped.
import { createAgentLoop, sendMessage, SessionRuntime, tool } from '@holdfast/core';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';

const [, , url = '', sessionId = ''] = process.argv;
const store = await RedisSessionStore.open({ url });
const channel = await RedisSessionChannel.open({ url });
const look = { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: {} } as const;
let calls = 0;
const writer = createAgentLoop({
  tools: [
    tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' }),
  ],
  driver: {
    async infer(_, { onDelta, signal }) {
      if (++calls === 1) return { content: [look] };
      onDelta?.({ type: 'text', id: '0', text: 'One ' });
      onDelta?.({ type: 'text', id: '0', text: 'two' });
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      return { content: [{ type: 'text', text: 'One two' }], finishReason: 'aborted' };
    },
  },
});
const runtime = new SessionRuntime({ store, channel, agents: { writer } });
await runtime.execute(sessionId, sendMessage('Count.'));
await channel.close();
await store.close();
