import { createAnthropic } from '@ai-sdk/anthropic';
import { createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { tool } from 'ai';
import { z } from 'zod';

/** An agent with code that Anthropic runs. The code calls a tool of the loop twice, and its result comes at the end. */
export async function deferredAgent(url: string) {
  const anthropic = createAnthropic({ apiKey: 'none', baseURL: url });
  const add = tool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    providerOptions: { anthropic: { allowedCallers: ['code_execution_20250825'] } },
    execute: ({ a, b }) => a + b,
  });
  const code = anthropic.tools.codeExecution_20250825();
  return createAgentLoop({
    driver: aiSdkDriver({ model: anthropic('claude-sonnet-4-5'), maxRetries: 0 }),
    tools: await fromAiSdkTools({ code, add }, { effects: { add: 'readOnly' } }),
  });
}

/** The responses of Anthropic: the call of the code, the second call of the tool, and the result of the code. */
export const replies: readonly object[] = [
  reply('tool_use', codeCall(), addCall('toolu_1', 1, 2)),
  reply('tool_use', addCall('toolu_2', 3, 4)),
  reply('end_turn', codeResult(), { type: 'text', text: 'It is 10.' }),
];

function reply(stop_reason: string, ...content: readonly object[]): object {
  const usage = { input_tokens: 11, output_tokens: 7 };
  const facts = {
    type: 'message',
    id: `msg_${content.length}`,
    model: 'claude-sonnet-4-5',
    role: 'assistant',
  };
  return { ...facts, content, stop_reason, stop_sequence: null, usage };
}

function codeCall(): object {
  return { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'add(1, 2)' } };
}

function addCall(id: string, a: number, b: number): object {
  const caller = { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' };
  return { type: 'tool_use', id, name: 'add', input: { a, b }, caller };
}

function codeResult(): object {
  const content = { type: 'code_execution_result', stdout: '10', stderr: '', return_code: 0, content: [] };
  return { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content };
}
