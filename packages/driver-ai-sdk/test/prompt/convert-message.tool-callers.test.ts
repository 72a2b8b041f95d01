import { createOpenAI } from '@ai-sdk/openai';
import { AgentState, createAgentLoop, tool } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { generateText, isStepCount, tool as sdkTool } from 'ai';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { localServer, stopLocalServers, type Body, type Reply } from '../http/local-server.ts';

/** Checks tool calls of a program that runs at OpenAI. Their results must name the program. */

afterEach(stopLocalServers);

const caller = { type: 'program', caller_id: 'prog_1' };
const response = (id: string, output: readonly object[]): Reply => ({
  json: { id, created_at: 0, model: 'gpt-5', output, usage: { input_tokens: 3, output_tokens: 2 } },
});
const asks = response('resp_1', [
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '{"a":1}', caller },
  { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'fail', arguments: '{"a":2}', caller },
  { type: 'function_call', id: 'fc_3', call_id: 'call_3', name: 'add', arguments: '{"a":3}' },
]);
const answers = response('resp_2', [
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
  },
]);

const inputSchema = z.object({ a: z.number() });
const add = ({ a }: { readonly a: number }): number => a + 1;
const fail = (): string => {
  throw new Error('No luck.');
};

test('tool calls of a program are sent back as the AI SDK sends them, from a stored state too', async () => {
  const server = await localServer(asks, answers, asks, answers);
  const model = createOpenAI({ baseURL: server.url, apiKey: 'key' })('gpt-5');
  const loop = createAgentLoop({
    driver: aiSdkDriver({ model }),
    tools: [
      tool({ name: 'add', description: 'Adds.', inputSchema, execute: add }),
      tool({ name: 'fail', description: 'Fails.', inputSchema, execute: fail }),
    ],
  });
  const afterStep = (await loop.iterate(AgentState.empty().withUserMessage('sums')).next()).value;
  const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(afterStep)));
  expect((await loop.run(stored)).finalResponse).toBe('Done.');

  await generateText({
    model,
    prompt: 'sums',
    tools: {
      add: sdkTool({ description: 'Adds.', inputSchema, execute: add }),
      fail: sdkTool({ description: 'Fails.', inputSchema, execute: fail }),
    },
    stopWhen: isStepCount(2),
  });
  const [, ours, , theirs] = server.bodies.map(itemsOf);
  // The AI SDK uses other texts for tool errors.
  expect(ours?.map(withoutOutput)).toEqual(theirs?.map(withoutOutput));
  const results = ours?.filter(({ type }) => type === 'function_call_output');
  expect(results?.map((item) => item.caller)).toEqual([caller, caller, undefined]);
});

interface Item {
  readonly type?: string;
  readonly caller?: unknown;
  readonly output?: unknown;
}

function itemsOf(body: Body): readonly Item[] {
  return body['input'] as readonly Item[];
}

function withoutOutput(item: Item): Item {
  return { ...item, output: undefined };
}
