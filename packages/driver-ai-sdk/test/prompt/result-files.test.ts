import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { AgentState, createAgentLoop, tool, toolResult } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { withoutResultFiles } from '../../src/prompt/result-files.ts';
import { answer } from '../builders.ts';

const picture = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } } as const;
const paper = { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: picture.data } as const;
const prompt: LanguageModelV4Prompt = [
  { role: 'user', content: [{ type: 'text', text: 'Look.' }, picture] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: '1',
        toolName: 'look',
        output: { type: 'content', value: [{ type: 'text', text: 'Seen.' }, picture, paper] },
      },
    ],
  },
];

const filePlaces = [0, 1];

const textsFor = (provider: string): unknown[] =>
  withoutResultFiles(prompt, filePlaces, { provider, modelId: 'm' })
    .slice(1)
    .map(({ role, content }) => [role, JSON.stringify(content).includes('QUJD')]);

test.each(['openai.chat', 'azure.chat'])('%s receives a picture of a result after it', (provider) => {
  const [, results, shown] = withoutResultFiles(prompt, filePlaces, { provider, modelId: 'm' });
  expect(JSON.stringify(results)).not.toContain('QUJD');
  expect(JSON.stringify(results)).toContain('[A file: image/png; it follows in the next message.]');
  expect(JSON.stringify(results)).toContain(
    '[A file: a.pdf (application/pdf); this model cannot read it here.]',
  );
  expect(shown).toEqual({ role: 'user', content: [picture] });
});

test.each(['groq.chat', 'mistral.chat', 'acme.chat', 'cohere.chat'])('%s receives a note', (provider) => {
  expect(textsFor(provider)).toEqual([['tool', false]]);
});

test.each([
  'openai.responses',
  'anthropic.messages',
  'amazon-bedrock',
  'google.generative-ai',
  'deepseek.chat',
  'xai.chat',
  'google.vertex.chat',
  'gateway',
])('%s receives the files as they are', (provider) => {
  expect(withoutResultFiles(prompt, filePlaces, { provider, modelId: 'm' })).toBe(prompt);
});

test('a message of the user keeps its files, and a prompt without files in results stays as it is', () => {
  const start = prompt.slice(0, 1);
  expect(withoutResultFiles(start, [0], { provider: 'openai.chat', modelId: 'm' })).toBe(start);
  expect(createOpenAI({ apiKey: 'key' }).chat('gpt-5').provider).toBe('openai.chat');
});

test.each(['openai.chat', 'azure.chat'])('the loop sends a picture of a result to %s', async (provider) => {
  const data = { type: 'data', data: 'iVBORw0KGgo=' } as const;
  const look = tool({
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    execute: () =>
      toolResult({
        value: 'seen',
        modelOutput: { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data }] },
      }),
  });
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'look', input: '{}' } as const;
  const model = new MockLanguageModelV4({
    provider,
    doGenerate: [answer([call]), answer([{ type: 'text', text: 'A dot.' }])],
  });
  const loop = createAgentLoop({ driver: aiSdkDriver({ model }), tools: [look] });
  await loop.run(AgentState.empty().withUserMessage('Look.'));
  expect(model.doGenerateCalls[1]?.prompt.at(-1)).toEqual({
    role: 'user',
    content: [{ type: 'file', mediaType: 'image/png', data }],
  });
});
