import type { LanguageModelV2 } from '@ai-sdk/provider';
import { createProviderRegistry, customProvider } from 'ai';
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test';
import { afterEach, expect, test, vi } from 'vitest';
import { ModelResolver } from '../src/resolve-model.ts';
import { rejection } from './builders.ts';

const small = new MockLanguageModelV4({ modelId: 'small' });
const large = new MockLanguageModelV4({ modelId: 'large' });
const provider = customProvider({ languageModels: { small, large } });

afterEach(() => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
});

test('the model of the driver is for calls that name none', async () => {
  const resolver = new ModelResolver({ model: small, registry: provider });
  expect(await resolver.resolve(undefined)).toBe(small);
  expect(await resolver.resolve('large')).toBe(large);
});

test('an id of the driver goes through the registry', async () => {
  expect(await new ModelResolver({ model: 'large', registry: provider }).resolve(undefined)).toBe(large);
});

test('a provider registry of the AI SDK is a registry', async () => {
  const registry = createProviderRegistry({ mock: provider });
  expect(await new ModelResolver({ registry }).resolve('mock:large')).toBe(large);
});

test('the registry is asked once for each model', async () => {
  const asked: string[] = [];
  const resolver = new ModelResolver({ registry: { languageModel: (id) => (asked.push(id), small) } });
  await resolver.resolve('a');
  await resolver.resolve('a');
  await resolver.resolve('b');
  expect(asked).toEqual(['a', 'b']);
});

test('without a registry, ids go where the AI SDK sends them', async () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
  const resolver = new ModelResolver({ model: 'small' });
  expect(await resolver.resolve(undefined)).toBe(small);
  expect(await resolver.resolve('large')).toBe(large);
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
  expect(await resolver.resolve('openai/gpt-5')).toMatchObject({
    provider: 'gateway',
    modelId: 'openai/gpt-5',
  });
});

test('without a registry, the id of the model that the driver has means that model', async () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
  const own = new MockLanguageModelV4({ modelId: 'small' });
  const resolver = new ModelResolver({ model: own });
  expect(await resolver.resolve('small')).toBe(own);
  expect(await resolver.resolve('large')).toBe(large);
});

test('models of earlier specifications are brought up to date, once and without a word', async () => {
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const v2: LanguageModelV2 = {
    specificationVersion: 'v2',
    provider: 'old',
    modelId: 'older',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('unused')),
    doStream: () => Promise.reject(new Error('unused')),
  };
  for (const model of [v2, new MockLanguageModelV3({ provider: 'old', modelId: 'older' })]) {
    const resolver = new ModelResolver({ model });
    const upgraded = await resolver.resolve(undefined);
    expect(upgraded).toMatchObject({ specificationVersion: 'v4', provider: 'old', modelId: 'older' });
    expect(await resolver.resolve(undefined)).toBe(upgraded);
  }
  expect(emitWarning).not.toHaveBeenCalled();
  expect(globalThis.AI_SDK_LOG_WARNINGS).toBeUndefined();
  emitWarning.mockRestore();
});

test.each([
  ['no model at all', {}, undefined, 'There is no model to call. Give the driver a model'],
  [
    'an id the registry does not know',
    { registry: provider },
    'huge',
    'The model "huge" was not found in the registry',
  ],
  [
    'a registry that finds nothing',
    { registry: { languageModel: () => undefined as never } },
    'huge',
    'The model "huge" was not found in the registry',
  ],
  [
    'a specification of the future',
    {
      model: {
        ...small,
        modelId: 'tomorrow',
        specificationVersion: 'v9',
        doGenerate: small.doGenerate,
      } as never,
    },
    undefined,
    'The model "tomorrow" follows specification v9. Use v2, v3 or v4.',
  ],
])('%s is an error that says what to do', async (_, source, id, message) => {
  const error = await rejection(new ModelResolver(source).resolve(id));
  expect(error).toMatchObject({
    name: 'DriverError',
    code: 'DRIVER_FAILED',
    data: { isRetryable: false, attempts: 0 },
  });
  expect(error).toHaveProperty('message', expect.stringContaining(message));
});

test('an id that the default provider does not know is named', async () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
  const error = await rejection(new ModelResolver({}).resolve('huge'));
  expect(error).toMatchObject({ data: { modelId: 'huge' }, cause: { name: 'AI_NoSuchModelError' } });
  expect(error).toHaveProperty('message', expect.stringContaining('default provider of the AI SDK'));
});
