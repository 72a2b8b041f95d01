import { createOpenAI } from '@ai-sdk/openai';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { expect, test } from 'vitest';
import { ModelResolver } from '../src/models/resolve-model.ts';

const model = createOpenAI({ apiKey: 'none' }).chat('gpt-5');

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

test.each<readonly [unknown, string]>([
  [{ nonsense: 1 }, 'aiSdkDriver has no option "nonsense". Known options: model, registry,'],
  [model, 'use "model", as in aiSdkDriver({ model: openai("gpt-5") }).'],
  ['openai/gpt-5', 'aiSdkDriver takes an object with options, found a string. Known options: model,'],
  [null, 'aiSdkDriver takes an object with options, found null.'],
  [{ temperature: 0 }, 'set it in the state, as in state.withLlmConfig({ temperature: 0 })'],
  [
    { fallback: ['gpt-5'] },
    'pass it to the loop, as in createAgentLoop({ driver, fallback: ["gpt-5-mini"] })',
  ],
  [{ abortSignal: 1 }, 'pass it to the run, as in loop.run(state, { signal })'],
  [{ apiKey: 'sk-1' }, 'has no option "apiKey": pass it to the provider'],
  [{ maxRetry: 1 }, 'did you mean "maxRetries"?'],
  [
    { model: () => model },
    'model of aiSdkDriver must be a language model or a model id, as in model: openai("gpt-5")',
  ],
  [{ model: '' }, 'model of aiSdkDriver must be a language model or a model id'],
  [
    { model: { doGenerate: () => undefined, maxImagesPerCall: 1 } },
    'model of aiSdkDriver must be a language model or a model id',
  ],
  [{ registry: 'gateway' }, 'registry of aiSdkDriver must be an object with languageModel()'],
  [{ maxRetries: -1 }, 'maxRetries of aiSdkDriver must be a whole number of at least 0, found number -1.'],
  [{ headers: { 'x-team': 5 } }, 'headers of aiSdkDriver must be an object of strings'],
  [{ promptCache: true }, 'promptCache of aiSdkDriver must be "off", "auto" or an object'],
  [{ promptCache: { ttl: '2h' } }, 'ttl of promptCache must be one of 5m, 1h'],
  [{ promptCache: { key: 'mine' } }, 'key of promptCache must be a function'],
  [{ promptCache: { duration: '1h' } }, 'promptCache has no option "duration"'],
  [{ onWarning: 'log' }, 'onWarning of aiSdkDriver must be a function'],
  [{ download: true }, 'download of aiSdkDriver must be a function'],
  [{ maxDownloadBytes: '5' }, 'maxDownloadBytes of aiSdkDriver must be a number of at least 0'],
  [{ wait: 5 }, 'wait of aiSdkDriver must be a function'],
])('aiSdkDriver refuses %o', (options, message) => {
  expect(() => aiSdkDriver(options as never)).toThrow(invalid(message));
});

test.each(['image', 'speech', 'transcription', 'embedding'] as const)(
  'aiSdkDriver refuses a model of another kind: %s',
  (kind) => {
    const other = createOpenAI({ apiKey: 'key' })[kind]('other');
    const message = 'model of aiSdkDriver must be a language model or a model id';
    expect(() => aiSdkDriver({ model: other as never })).toThrow(invalid(message));
    const registry = { languageModel: () => other as never };
    expect(() => new ModelResolver({ registry }).resolve('other')).toThrow('Unknown model "other"');
  },
);

test('the error for invalid headers does not contain their values', () => {
  const make = (headers: unknown) => () => aiSdkDriver({ headers: headers as never });
  for (const headers of ['Bearer sk-1', ['Bearer sk-1']])
    expect(make(headers)).not.toThrow(expect.objectContaining({ message: expect.stringContaining('sk-1') }));
  expect(make('Bearer sk-1')).toThrow(invalid('headers of aiSdkDriver must be an object of strings'));
});
