import assert from 'node:assert/strict';
import { userMessage, type LlmConfig } from '@holdfast/core';
import type { ToolChoice } from '@holdfast/core/driver';
import { both, heard, unheard, type DriverContext, type UngroupedDriverCase } from './driver-case.ts';
import { ADD, answer, inferred, requestOf, sentBy, SUBTRACT, textOfDeltas } from './driver-calls.ts';
import { saidIn, type ProviderRequest } from './provider.ts';

/** Values that a provider distinguishes from its defaults. Zeros are easily lost. */
const SETTINGS: LlmConfig = {
  maxOutputTokens: 77,
  temperature: 0,
  topP: 0.25,
  topK: 9,
  presencePenalty: 0.5,
  frequencyPenalty: -0.5,
  stopSequences: ['END', '\n\n'],
  seed: 0,
};

function settingsOf({ abilities }: DriverContext): LlmConfig {
  const names: readonly string[] = abilities.settings ?? [];
  return Object.fromEntries(Object.entries(SETTINGS).filter(([name]) => names.includes(name)));
}

/** Returns the model settings of a request that the provider received, without the model. */
function sentSettings(request: ProviderRequest | undefined): LlmConfig {
  const { model: _, ...settings } = request?.settings ?? {};
  return settings;
}

const CHOICES: readonly (readonly [name: string, choice: ToolChoice])[] = [
  ['none', 'none'],
  ['required', 'required'],
  ['one tool', { toolName: 'subtract' }],
];

const tools: readonly UngroupedDriverCase[] = [
  ...both('tools are sent in order, with their descriptions and schemas', [], async (context) => {
    const sent = await sentBy(context, requestOf('sums', { tools: [SUBTRACT, ADD] }));
    assert.deepEqual(sent.tools, [SUBTRACT, ADD]);
  }),
  unheard('a request without tools sends none', [], async (context) => {
    const sent = await sentBy(context, requestOf('hello'));
    assert.deepEqual(sent.tools, []);
  }),
  ...CHOICES.map(([name, toolChoice]) =>
    unheard(`the tool choice is sent: ${name}`, ['toolChoice'], async (context) => {
      const sent = await sentBy(context, requestOf('sums', { tools: [ADD, SUBTRACT], toolChoice }));
      // A provider without a choice of its own for "none" receives no tools.
      if (toolChoice === 'none' && sent.tools.length === 0) return;
      assert.deepEqual(sent.toolChoice, toolChoice);
    }),
  ),
  unheard('the tool choice "auto" forces nothing', [], async (context) => {
    const sent = await sentBy(context, requestOf('sums', { tools: [ADD] }));
    assert.equal(sent.toolChoice ?? 'auto', 'auto');
  }),
];

const settings: readonly UngroupedDriverCase[] = [
  ...both('model settings are sent', ['settings'], async (context) => {
    const llmConfig = settingsOf(context);
    const sent = await sentBy(context, requestOf('hello', { llmConfig }));
    assert.deepEqual(sentSettings(sent), llmConfig);
  }),
  unheard('model settings of one call do not reach the next', ['settings'], async (context) => {
    const { driver, requests } = await context.create([answer({ text: 'one' }), answer({ text: 'two' })]);
    await inferred(driver, requestOf('one', { llmConfig: settingsOf(context) }), context);
    await inferred(driver, requestOf('two'), context);
    assert.deepEqual(sentSettings(requests()[1]), {});
  }),
  unheard('the model that the settings name is called', ['models'], async (context) => {
    const { driver, requests } = await context.create([answer({ text: 'one' }), answer({ text: 'two' })]);
    const models = context.abilities.models ?? [];
    for (const model of models.slice(0, 2)) {
      await inferred(driver, requestOf('hello', { llmConfig: { model } }), context);
      assert.equal(driver.modelId?.({ model }) ?? model, model);
    }
    assert.deepEqual(
      requests().map((sent) => sent.settings.model),
      models.slice(0, 2),
    );
  }),
];

const calls: readonly UngroupedDriverCase[] = [
  heard('a driver stores nothing between calls', [], async ({ create }) => {
    const { driver, requests } = await create([answer({ text: 'one' }), answer({ text: 'two' })]);
    for (const text of ['one', 'two']) {
      const { response } = await inferred(driver, requestOf(text), { isHeard: true });
      assert.equal(response.text, text);
    }
    assert.deepEqual(requests().map(saidIn), [['user one'], ['user two']]);
  }),
  heard('calls at the same time do not mix', [], async ({ create }) => {
    const { driver, requests } = await create([answer({ text: 'left' }), answer({ text: 'right' })]);
    const asked = ['one', 'two'].map((text) => inferred(driver, requestOf(text), { isHeard: true }));
    const results = await Promise.all(asked);
    for (const { response, deltas } of results) assert.equal(textOfDeltas(deltas, 'text'), response.text);
    assert.deepEqual(results.map(({ response }) => response.text).toSorted(), ['left', 'right']);
    assert.deepEqual(requests().flatMap(saidIn).toSorted(), ['user one', 'user two']);
  }),
  unheard('a driver does not change its request', ['settings', 'schemas'], async (context) => {
    const messages = [userMessage('sums')];
    const format = { type: 'json', schema: ADD.inputSchema, name: 'numbers' } as const;
    const request = requestOf(messages, {
      tools: [ADD],
      llmConfig: SETTINGS,
      responseFormat: format,
    });
    await sentBy(context, request);
    assert.deepEqual(request.tools, [ADD]);
    assert.deepEqual(request.llmConfig, SETTINGS);
    assert.deepEqual(request.responseFormat, format);
    assert.deepEqual(request.messages.toArray(), messages);
  }),
];

/** Requirements on what a driver sends beside the conversation. */
export const requestCases: readonly UngroupedDriverCase[] = [...tools, ...settings, ...calls];
