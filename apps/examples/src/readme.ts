import { openai } from '@ai-sdk/openai';
import { createAgentLoop, sendMessage, SessionRuntime, tool } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { z } from 'zod';

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const assistant = createAgentLoop({ driver: aiSdkDriver({ model: openai('gpt-5-mini') }), tools: [add] });
const store = await SqliteSessionStore.open({ path: 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: { assistant } });

const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
const session = await runtime.execute(sessionId, sendMessage('What is 2 + 2?'));
console.log(session.state.finalResponse, session.state.debug()); // => It is 4. {…}
