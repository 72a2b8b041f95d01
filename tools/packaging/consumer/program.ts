/** A user's program that uses every package. It prints one line of JSON, the same on every runtime. */
import { createOpenAI } from '@ai-sdk/openai';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { sessionStoreTests, type CreateStore } from '@holdfast/conformance';
import { AgentBuilder, sendMessage, SessionRuntime, tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { parseDefinition } from '@holdfast/definitions';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { z } from 'zod';

const usage = { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 };
const answers = [
  {
    finish_reason: 'tool_calls',
    message: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":2}' } }],
    },
  },
  { finish_reason: 'stop', message: { role: 'assistant', content: 'It is 4.' } },
];
const openai = createOpenAI({
  apiKey: 'unused',
  fetch: async () => {
    const choice = { index: 0, ...answers.shift() };
    return Response.json({ id: 'answer', created: 0, model: 'gpt-5-mini', choices: [choice], usage });
  },
});

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const definition = parseDefinition('---\nname: adder\ntools: [add]\n---\nYou add.', { file: 'adder.md' });
const driver = aiSdkDriver({ model: openai.chat('gpt-5-mini') });
const agents = { adder: AgentBuilder.of({ driver, tools: [add] }).build(definition) };

const path = `sessions-${process.pid}.db`;
const store = await SqliteSessionStore.open({ path });
const { sessionId } = await new SessionRuntime({ store, agents }).create({ definition });
await new SessionRuntime({ store, agents }).execute(sessionId, sendMessage('What is 2 + 2?'));
await store.close();

const reopened = await SqliteSessionStore.open({ path });
const { state } = await new SessionRuntime({ store: reopened, agents }).get(sessionId);
await reopened.close();

const client = new DynamoDBClient({ region: 'us-east-1' });
const others = [
  new DynamoDbSessionStore({ client, table: 'sessions' }),
  RedisSessionStore,
  scriptedDriver('Hi.'),
];

const failures: string[] = [];
const create: CreateStore = async (clock, settings) => {
  const created = await SqliteSessionStore.open({ path: ':memory:', clock, ...settings });
  return { store: created, close: () => created.close() };
};
const cases = sessionStoreTests({ create }).filter(({ skip }) => !skip);
for (const { name, run } of cases) await run().catch((error) => failures.push(`${name}: ${error}`));

console.log(
  JSON.stringify({
    answer: state.finalResponse,
    tools: state.steps[0]?.toolExecutions.map(({ value }) => value),
    others: others.length,
    hasCases: cases.length > 200,
    failures,
  }),
);
