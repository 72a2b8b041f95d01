import type { LanguageModelV2 } from '@ai-sdk/provider';
import { createProviderRegistry, customProvider, gateway } from 'ai';
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test';
import { afterEach, expect, test, vi } from 'vitest';
import { ModelResolver } from '../../src/models/resolve-model.ts';

const small = new MockLanguageModelV4({ modelId: 'small' });
const large = new MockLanguageModelV4({ modelId: 'large' });
const provider = customProvider({ languageModels: { small, large } });

afterEach(() => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
});

test('requests without a model go to the model of the driver', () => {
  const resolver = new ModelResolver({ model: small, registry: provider });
  expect(resolver.resolve(undefined)).toBe(small);
  expect(resolver.resolve('large')).toBe(large);
});

test('a model id in the options is looked up in the registry', () => {
  expect(new ModelResolver({ model: 'large', registry: provider }).resolve(undefined)).toBe(large);
});

test('a provider registry of the AI SDK is a registry', () => {
  const registry = createProviderRegistry({ mock: provider });
  expect(new ModelResolver({ registry }).resolve('mock:large')).toBe(large);
});

test('the gateway of the AI SDK is a registry', () => {
  const model = new ModelResolver({ model: 'openai/gpt-5', registry: gateway }).resolve(undefined);
  expect(model).toMatchObject({ provider: 'gateway', modelId: 'openai/gpt-5' });
});

test('the registry is called for each call, because it may change its models', () => {
  const asked: string[] = [];
  const resolver = new ModelResolver({ registry: { languageModel: (id) => (asked.push(id), small) } });
  resolver.resolve('a');
  resolver.resolve('a');
  resolver.resolve('b');
  expect(asked).toEqual(['a', 'a', 'b']);
});

test('without a registry, ids are looked up in the default provider of the process', () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
  const resolver = new ModelResolver({ model: 'small' });
  expect(resolver.resolve(undefined)).toBe(small);
  expect(resolver.resolve('large')).toBe(large);
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
  expect(() => resolver.resolve('large')).toThrow('The driver has no registry');
});

test('without a registry, the id of the model of the driver finds this model', () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
  const own = new MockLanguageModelV4({ modelId: 'small' });
  const resolver = new ModelResolver({ model: own });
  expect(resolver.resolve('small')).toBe(own);
  expect(resolver.resolve('large')).toBe(large);
});

test('models of earlier specifications are upgraded once, without a warning', () => {
  const emitWarning = vi.spyOn(process, 'emitWarning');
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
    const upgraded = resolver.resolve(undefined);
    expect(upgraded).toMatchObject({ specificationVersion: 'v4', provider: 'old', modelId: 'older' });
    expect(resolver.resolve(undefined)).toBe(upgraded);
  }
  expect(emitWarning).not.toHaveBeenCalled();
  emitWarning.mockRestore();
});

test.each([
  ['no model at all', {}, undefined, 'Neither the driver nor the model settings name a model.'],
  [
    'an id and no registry',
    { model: 'openai/gpt-5' },
    undefined,
    'Pass a model, or a registry such as `registry: gateway`',
  ],
  [
    'an id that the registry does not know',
    { registry: provider },
    'huge',
    'Unknown model "huge" in the registry of the driver.',
  ],
  [
    'a registry that returns no model',
    { registry: { languageModel: () => undefined as never } },
    'huge',
    'Unknown model "huge" in the registry of the driver.',
  ],
  [
    'a newer specification',
    {
      model: {
        ...small,
        modelId: 'tomorrow',
        specificationVersion: 'v9',
        doGenerate: small.doGenerate,
      } as never,
    },
    undefined,
    'Model "tomorrow" has the unsupported specification v9. Use a model with v2, v3 or v4.',
  ],
])('%s is an error with advice', (_, source, id, message) => {
  const error = thrownBy(() => new ModelResolver(source).resolve(id));
  expect(error).toMatchObject({
    name: 'AiSdkDriverError',
    code: message.includes('specification') ? 'DRIVER_INVALID_REQUEST' : 'DRIVER_MODEL_NOT_FOUND',
    data: { isRetryable: false, attempts: 0 },
  });
  expect(error).toHaveProperty('message', expect.stringContaining(message));
});

test('the error for an id that the default provider does not know contains the id', () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
  const error = thrownBy(() => new ModelResolver({}).resolve('huge'));
  expect(error).toMatchObject({ data: { modelId: 'huge' }, cause: { name: 'AI_NoSuchModelError' } });
  expect(error).toHaveProperty('message', expect.stringContaining('default provider of the AI SDK'));
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('The action was expected to throw.');
}
