import { AgentState, createAgentLoop, tool } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { answer } from '../builders.ts';

test.each([
  ['none', 'none'],
  ['another tool', { toolName: 'look' }],
] as const)('a call that toolChoice forbids does not run: %s', async (_, toolChoice) => {
  const pays = { type: 'tool-call', toolCallId: '1', toolName: 'pay', input: '{}' } as const;
  const calls = { unified: 'tool-calls', raw: 'tool_calls' } as const;
  const replies = [answer([pays], { finishReason: calls }), answer('Fine.')];
  const model = new MockLanguageModelV4({ doGenerate: async () => replies.shift() ?? answer('More.') });
  const ran: string[] = [];
  const tools = ['pay', 'look'].map((name) =>
    tool({ name, description: name, inputSchema: { type: 'object' }, execute: () => void ran.push(name) }),
  );
  const loop = createAgentLoop({ driver: aiSdkDriver({ model }), tools, toolChoice });
  const state = await loop.run(AgentState.empty().withUserMessage('Pay.'));
  expect([ran, state.status, state.finalResponse]).toEqual([[], 'completed', 'Fine.']);
});
