import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { userMessage } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { answer, apiError, quietly, rejection, request } from '../builders.ts';

const PROFILE = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc1';
const refusal = apiError(403, {
  message: 'You invoked an unsupported model or your request did not allow prompt caching.',
  responseBody: '{}',
});

function isMarked({ prompt }: LanguageModelV4CallOptions): boolean {
  return JSON.stringify(prompt).includes('cachePoint');
}

test('an inference profile whose model takes no marks is called without them, from then on', async () => {
  const marked: boolean[] = [];
  const doGenerate = async (options: LanguageModelV4CallOptions) => {
    marked.push(isMarked(options));
    if (isMarked(options)) throw refusal;
    return answer('Fine.');
  };
  // A registry creates a new object for a model at each call.
  const languageModel = (modelId: string) =>
    new MockLanguageModelV4({ provider: 'amazon-bedrock', modelId, doGenerate });
  const driver = aiSdkDriver({ model: PROFILE, registry: { languageModel }, promptCache: 'auto' });
  for (let call = 0; call < 2; call++)
    expect(await driver.infer(request([userMessage('Hello.')]), quietly())).toMatchObject({ text: 'Fine.' });
  expect(marked).toEqual([true, false, false]);
});

test('a model that refuses every call is called twice', async () => {
  let calls = 0;
  const model = new MockLanguageModelV4({
    provider: 'amazon-bedrock',
    modelId: PROFILE,
    doGenerate: async () => {
      calls++;
      throw refusal;
    },
  });
  const driver = aiSdkDriver({ model, promptCache: 'auto', maxRetries: 0 });
  const failed = await rejection(driver.infer(request([userMessage('Hello.')]), quietly()));
  expect([calls, failed]).toEqual([2, expect.objectContaining({ kind: 'authentication' })]);
});
