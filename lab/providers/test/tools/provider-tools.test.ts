import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { AgentState, createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { generateText, isStepCount, tool, type ToolSet } from 'ai';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

/** Tools that a provider defines: the loop sends what the AI SDK sends, and resumes from a stored state. */

const servers: Server[] = [];

afterEach(async () => {
  const closed = servers.splice(0).map((server) => {
    server.close();
    return once(server, 'close');
  });
  await Promise.all(closed);
});

/** A provider that sends its replies in order, and records the requests. */
async function provider(
  replies: readonly object[],
): Promise<{ readonly url: string; readonly bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = replies[bodies.push(await json(request)) - 1] ?? {
      error: { message: 'No reply is left.' },
    };
    response.setHeader('connection', 'close');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(reply));
  };
  const server = createServer((request, response) => void answer(request, response));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

interface Case {
  readonly model: (baseURL: string) => LanguageModelV4;
  readonly tools: ToolSet;
  readonly replies: readonly object[];
}

/** The requests of the loop. Each step runs from the JSON of the state before it, as in a new process. */
async function ours({ model, tools, replies }: Case) {
  const { url, bodies } = await provider(replies);
  const own = await fromAiSdkTools(tools);
  const newLoop = () => createAgentLoop({ driver: aiSdkDriver({ model: model(url) }), tools: own });
  let state = AgentState.empty().withUserMessage('Go.');
  for (const _ of replies) {
    for await (const next of newLoop().iterate(state)) {
      state = AgentState.fromJSON(JSON.parse(JSON.stringify(next)));
      break;
    }
  }
  return { bodies, state: await newLoop().run(state) };
}

async function theirs({ model, tools, replies }: Case): Promise<unknown[]> {
  const { url, bodies } = await provider(replies);
  const stopWhen = isStepCount(5);
  await generateText({ model: model(url), tools, prompt: 'Go.', stopWhen, maxRetries: 0 });
  return bodies;
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
const messages = (stop_reason: string, ...content: readonly object[]) => ({
  type: 'message',
  id: `msg_${stop_reason}`,
  model: 'claude-sonnet-4-5',
  role: 'assistant',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 7 },
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
const coding = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'code_execution',
  input: { code: 'add(1, 2)' },
};
const codeCall = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'add',
  input: { a: 1, b: 2 },
  caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
};
const coded = {
  type: 'code_execution_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: { type: 'code_execution_result', stdout: '3', stderr: '', return_code: 0, content: [] },
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
        messages('tool_use', searching, found, {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'add',
          input: { a: 1, b: 2 },
        }),
        messages('end_turn', { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
  [
    'Anthropic: a web search whose result comes in the next response',
    {
      model: claude,
      tools: { search: anthropic.webSearch_20250305({}) },
      replies: [
        messages('pause_turn', searching),
        messages('end_turn', found, { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
  [
    'Anthropic: code that calls a tool of the loop',
    {
      model: claude,
      tools: { code: anthropic.codeExecution_20250825(), add },
      replies: [
        messages('tool_use', coding, codeCall),
        messages('end_turn', coded, { type: 'text', text: 'It is 3.' }),
      ],
    },
  ],
  [
    'Anthropic: a tool that the loop runs for the provider',
    {
      model: claude,
      tools: { bash: anthropic.bash_20250124({ execute: ({ command }) => `ran ${command}` }) },
      replies: [
        messages('tool_use', { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' } }),
        messages('end_turn', { type: 'text', text: 'It is 3.' }),
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
