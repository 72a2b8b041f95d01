import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { withoutResultFiles } from '../../src/prompt/result-files.ts';

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
