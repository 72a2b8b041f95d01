import { createAnthropic } from '@ai-sdk/anthropic';
import { createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { tool } from 'ai';
import { z } from 'zod';
import { addCallOf, codeCall, codeResult, message } from './anthropic-replies.ts';

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
  message('tool_use', codeCall, addCallOf('toolu_1', 1, 2)),
  message('tool_use', addCallOf('toolu_2', 3, 4)),
  message('end_turn', codeResult('10'), { type: 'text', text: 'It is 10.' }),
];
