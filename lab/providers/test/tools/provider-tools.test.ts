import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { AgentState, createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { generateText, isStepCount, tool, type ToolSet } from 'ai';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { inOrder, ProviderServer } from '../../src/server.ts';
import { jsonResponse } from '../../src/wires/event-stream.ts';
import { addCallOf, codeCall, codeResult, message } from './anthropic-replies.ts';

/** Tools that a provider defines: the loop sends what the AI SDK sends, and resumes from a stored state. */

const server = await ProviderServer.start();
afterAll(() => server.stop());

/** Lets the server send these replies, in order. */
function play(replies: readonly object[]): void {
  server.play(inOrder(replies.map((reply) => ({ response: jsonResponse(reply) }))));
}

interface Case {
  readonly model: (baseURL: string) => LanguageModelV4;
  readonly tools: ToolSet;
  readonly replies: readonly object[];
}

/** The requests of the loop. Each step runs from the JSON of the state before it, as in a new process. */
async function ours({ model, tools, replies }: Case) {
  play(replies);
  const own = await fromAiSdkTools(tools);
  const newLoop = () => createAgentLoop({ driver: aiSdkDriver({ model: model(server.url) }), tools: own });
  let state = AgentState.empty().withUserMessage('Go.');
  for (const _ of replies) {
    for await (const next of newLoop().iterate(state)) {
      state = AgentState.fromJSON(JSON.parse(JSON.stringify(next)));
      break;
    }
  }
  const end = await newLoop().run(state);
  return { bodies: [...server.bodies], state: end };
}

async function theirs({ model, tools, replies }: Case): Promise<readonly unknown[]> {
  play(replies);
  const stopWhen = isStepCount(5);
  await generateText({ model: model(server.url), tools, prompt: 'Go.', stopWhen, maxRetries: 0 });
  return [...server.bodies];
}

const gpt = (baseURL: string) => createOpenAI({ apiKey: 'none', baseURL })('gpt-5');
const claude = (baseURL: string) => createAnthropic({ apiKey: 'none', baseURL })('claude-sonnet-4-5');
const { tools: openai } = createOpenAI({ apiKey: 'none' });
const { tools: anthropic } = createAnthropic({ apiKey: 'none' });

const responses = (id: string, ...output: readonly object[]) => ({
  id,
  created_at: 1,
  model: 'gpt-5',
  output,
  usage: { input_tokens: 11, output_tokens: 7 },
});
const spoken = (text: string) => ({
  id: `msg_${text.length}`,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const add = tool({
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  strict: true,
  inputExamples: [{ input: { a: 1, b: 2 } }],
  providerOptions: { anthropic: { allowedCallers: ['code_execution_20250825'] } },
  execute: ({ a, b }) => a + b,
});

const webSearch = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'x' },
};
const addCall = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'add',
  arguments: '{"a":1,"b":2}',
};
const searching = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      url: 'https://a.example',
      title: 'A',
      encrypted_content: 'secret',
      page_age: null,
    },
  ],
};
const cases: readonly [string, Case][] = [
  [
    'OpenAI: a web search beside a tool of the loop',
    {
      model: gpt,
      tools: { search: openai.webSearch({ searchContextSize: 'low' }), add },
      replies: [responses('resp_1', webSearch, addCall), responses('resp_2', spoken('It is 3.'))],
    },
  ],
  [
    'Anthropic: a web search with its result in the same response',
    {
      model: claude,
      tools: { search: anthropic.webSearch_20250305({ maxUses: 2 }), add },
      replies: [
        message('tool_use', searching, found, {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'add',
          input: { a: 1, b: 2 },
        }),
        message('end_turn', { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
  [
    'Anthropic: a web search whose result comes in the next response',
    {
      model: claude,
      tools: { search: anthropic.webSearch_20250305({}) },
      replies: [
        message('pause_turn', searching),
        message('end_turn', found, { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
  [
    'Anthropic: code that calls a tool of the loop',
    {
      model: claude,
      tools: { code: anthropic.codeExecution_20250825(), add },
      replies: [
        message('tool_use', codeCall, addCallOf('toolu_1', 1, 2)),
        message('end_turn', codeResult('3'), { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
  [
    'Anthropic: a tool that the loop runs for the provider',
    {
      model: claude,
      tools: { bash: anthropic.bash_20250124({ execute: ({ command }) => `ran ${command}` }) },
      replies: [
        message('tool_use', { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' } }),
        message('end_turn', { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
];

describe.each(cases)('%s', (_, given) => {
  test('sends the requests of the AI SDK', async () => {
    const { bodies, state } = await ours(given);
    expect(bodies).toEqual(await theirs(given));
    expect([bodies.length, state.status, state.finalResponse]).toEqual([2, 'completed', 'It is 3.']);
  });
});
