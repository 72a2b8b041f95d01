import { STRICTEST_FORM, type RequestForm } from '@holdfast/core/driver';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { aiSdkDriver } from '../../src/ai-sdk-driver.ts';
import { callDemandsOf, formOf } from '../../src/forms/form-of.ts';
import { PROVIDER_DEMANDS } from '../../src/forms/provider-demands.ts';
import { sourceNotes } from '../source-notes.ts';

const NINE = { characters: 'A-Za-z0-9', minLength: 9, maxLength: 9 };

test.each([
  ['mistral.chat', 'magistral-medium-latest', { callId: NINE, takesUserMessageAfterResults: false }],
  ['amazon-bedrock', 'mistral.mistral-large-2407-v1:0', { callId: NINE, takesFirstAnswer: false }],
  ['amazon-bedrock', 'anthropic.claude-sonnet-4-5', { callId: { characters: 'A-Za-z0-9_-', maxLength: 64 } }],
  ['openai.chat', 'gpt-4.1', { callId: { characters: 'A-Za-z0-9_-', maxLength: 40 }, takesBlankTexts: true }],
  ['azure.responses', 'gpt-5', { boundOptions: ['itemId', 'reasoningEncryptedContent'] }],
  ['anthropic.messages', 'claude-opus-5', { takesLastAnswer: false, takesLaterSystemMessages: false }],
  ['googleVertex.anthropic.messages', 'claude-opus-5', { ownCallIds: '^(srvtoolu|mcptoolu)_' }],
  ['google.generative-ai', 'gemini-2.5-pro', { boundOptions: ['thoughtSignature'] }],
  [
    'google.vertex.chat',
    'gemini-3-pro',
    { callOptions: { google: { thoughtSignature: expect.any(String) } } },
  ],
  ['moonshotai.chat', 'kimi-k2.5', { reasoningBeforeCalls: ' ' }],
  ['kimi.chat', 'kimi-k2-thinking', { reasoningBeforeCalls: ' ', takesUserMessagesInARow: false }],
  ['gateway', 'anthropic/claude-opus-5', { optionNames: ['anthropic'], ownCallIds: '^(?![a-z]{2}_|mcpr?_)' }],
  ['openrouter', 'anthropic/claude-opus-5', { ownCallIds: '(?!)' }],
  ['gateway', 'openai/gpt-5', { ownCallIds: '^(?!srvtoolu_|mcptoolu_)' }],
  ['openrouter', 'mistralai/mistral-large', { callId: NINE }],
])('%s %s', (provider, modelId, demands) => {
  expect(formOf({ provider, modelId })).toMatchObject(demands);
});

test('a provider that is not known receives the strictest form, without demands that only few servers have', () => {
  const form = formOf({ provider: 'acme.chat', modelId: 'model-1' });
  const few = ['name', 'toolName', 'callId', 'takesReasoning', 'takesSingleCalls', 'declaresCalledTools'];
  const others = ['textBeforeCalls', 'optionNames', 'files'];
  const common = (given: RequestForm) =>
    Object.entries(given).filter(([name]) => ![...few, ...others].includes(name));
  expect(common(form)).toEqual(common(STRICTEST_FORM));
  expect(form).toMatchObject({
    toolName: { maxLength: 64 },
    callId: { maxLength: 40 },
    takesReasoning: true,
    takesSingleCalls: false,
    declaresCalledTools: false,
    optionNames: ['acme'],
  });
  expect(form).not.toHaveProperty('textBeforeCalls');
});

test('models with the same demands share a form, and a form has one name', () => {
  const [first, second] = ['claude-opus-5', 'claude-haiku-5'].map((modelId) => {
    return formOf({ provider: 'anthropic.messages', modelId });
  });
  expect(first).toBe(second);
  const others = ['openai.chat', 'openai.responses', 'google.generative-ai', 'groq.chat', 'acme.chat'];
  const names = others.map((provider) => formOf({ provider, modelId: 'm' }).name);
  expect(new Set(names).size).toBe(others.length);
});

const thinking = { options: ['anthropic'], member: 'thinking' };

test.each([
  ['anthropic.messages', 'claude-opus-5', { thinking, omitsUnsignedThinking: true }],
  ['bedrock.anthropic.messages', 'anthropic.claude-opus-5', { thinking, lacksNoneChoice: true }],
  ['azure.chat', 'gpt-5', { resultFiles: 'afterResults' }],
  ['azure.responses', 'gpt-5', { storage: { options: ['azure', 'openai'], asksForReasoning: true } }],
  ['xai.chat', 'grok-4', { resultFiles: 'asFiles' }],
  ['ollama.chat', 'qwen3', { takesBase64Only: true }],
])('the driver itself meets demands of %s %s', (provider, modelId, demands) => {
  expect(callDemandsOf({ provider, modelId })).toMatchObject(demands);
});

test('the driver leaves demands of a provider behind a router to the router', () => {
  expect(callDemandsOf({ provider: 'openrouter', modelId: 'anthropic/claude-opus-5' })).toEqual({});
});

describe('the table', () => {
  const notes = sourceNotes('forms/provider-demands.ts', 'PROVIDER_DEMANDS');

  test.each(PROVIDER_DEMANDS.map((row, at) => ({ ...row, note: notes[at] })))(
    '$provider $model has a source and a date, and its names can be made legal',
    ({ note, demands = {} }) => {
      expect(note).toMatch(/^(@?[\w-]+\/[\w.-]+[#@][\w.]+,? )+\(20\d\d-\d\d\)$/);
      for (const { characters = 'a-z0-9' } of [demands.toolName ?? {}, demands.callId ?? {}])
        expect('az09').toMatch(new RegExp(`^[${characters}]+$`));
    },
  );

  test('has a note in each row', () => expect(notes).toHaveLength(PROVIDER_DEMANDS.length));
});

test('the driver names the form of the model that a call goes to', () => {
  const model = new MockLanguageModelV4({ provider: 'mistral.chat', modelId: 'm' });
  const driver = aiSdkDriver({
    model,
    registry: { languageModel: () => new MockLanguageModelV4({ provider: 'groq.chat' }) },
  });
  expect(driver.formOf?.(undefined)?.callId).toEqual(NINE);
  expect(driver.formOf?.({ model: 'other' })?.callId.maxLength).toBe(40);
  expect(aiSdkDriver().formOf?.({ model: 'unknown' })).toBeUndefined();
});
