import { costLimit, costOf, Usage, type Hook, type ModelPrices } from '@holdfast/core';
import type { Driver, UsageFields } from '@holdfast/core/driver';
import type { CallUsage } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { call, does, observe, told, type Observation, type Scenario } from '../../support/builders.ts';

// What things cost

const USAGE = { inputTokens: 1_000, outputTokens: 100 };
const PRICE = { input: 2, output: 10 };
/** What that usage costs at that price. */
const COST = 0.003;

/** One call by a driver that knows its model, at some prices. */
async function priced(scenario: Scenario & { readonly model?: string | undefined }): Promise<Observation> {
  const { model, ...rest } = scenario;
  const state = model === undefined ? told() : told().withLlmConfig({ model }, 1);
  return observe({ state, script: [{ text: 'Hi.', usage: USAGE }], ...rest });
}

describe('the price of a model is found', () => {
  const rows: readonly (readonly [
    string,
    model: string | undefined,
    prices: ModelPrices,
    cost: number | undefined,
  ])[] = [
    ['by its id with the provider', 'openai:gpt-5', { 'openai:gpt-5': PRICE }, COST],
    ['by its id without the provider', 'openai:gpt-5', { 'gpt-5': PRICE }, COST],
    ['by an id that names no provider', 'gpt-5', { 'gpt-5': PRICE }, COST],
    ['by an id with a colon in it', 'ollama:llama3:8b', { 'llama3:8b': PRICE }, COST],
    [
      'first by the longer id',
      'openai:gpt-5',
      { 'gpt-5': { input: 0, output: 0 }, 'openai:gpt-5': PRICE },
      COST,
    ],
    ['by the provider’s own id', 'openai:best', { 'gpt-5-2025-08-07': PRICE }, COST],
    ['by the provider’s own id, when no model was named', undefined, { 'gpt-5-2025-08-07': PRICE }, COST],
    ['first by the requested id', 'best', { 'gpt-5-2025-08-07': { input: 0, output: 0 }, best: PRICE }, COST],
    ['nowhere: not under another provider', 'openai:gpt-5', { 'azure:gpt-5': PRICE }, undefined],
    ['nowhere: not among the members of every object', 'constructor', {}, undefined],
  ];
  test.each(rows)('%s', async (_, model, prices, cost) => {
    const script = [{ text: 'Hi.', usage: USAGE, modelId: 'gpt-5-2025-08-07' }];
    const { state } = await priced({ model, prices, script });
    expect(state.cost).toBe(cost);
    expect([state.usage.unpricedCalls, state.usage.isPriced]).toEqual(
      cost === undefined ? [1, false] : [0, true],
    );
  });

  test('by the driver’s model id, which overrides that of the state', async () => {
    const driver: Driver = {
      modelId: (llmConfig) => `real:${llmConfig?.model}`,
      infer: async () => ({ text: 'Hi.', usage: USAGE }),
    };
    const prices = { 'real:alias': PRICE, alias: { input: 0, output: 0 } };
    const { state } = await priced({ driver, prices, model: 'alias', script: [] });
    expect(state.cost).toBe(COST);
  });
});

describe('the cost of a call', () => {
  const dear = { input: 4, output: 20, cacheRead: 1, cacheWrite: 5 };
  const rows: readonly (readonly [string, CallUsage, cost: number | undefined])[] = [
    ['input and output', { inputTokens: 1_000_000, outputTokens: 500_000 }, 14],
    ['reads of the cache', { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 600_000 }, 2.2],
    ['writes to the cache', { inputTokens: 1_000_000, outputTokens: 0, cacheWriteTokens: 600_000 }, 4.6],
    [
      'both',
      { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 500_000, cacheWriteTokens: 250_000 },
      4.75,
    ],
    [
      'more of the cache than of input, as some report',
      { inputTokens: 0, outputTokens: 0, cacheReadTokens: 1_000_000 },
      1,
    ],
    ['reasoning is output', { inputTokens: 0, outputTokens: 1_000_000, reasoningTokens: 900_000 }, 20],
    ['zero tokens', { inputTokens: 0, outputTokens: 0 }, 0],
    ['input that was not reported', { outputTokens: 5 }, undefined],
    ['output that was not reported', { inputTokens: 5 }, undefined],
    ['unreported tokens', {}, undefined],
  ];
  test.each(rows)('%s', (_, usage, cost) => {
    const found = costOf(Usage.of(usage), dear);
    expect(found && Math.round(found * 1e9) / 1e9).toBe(cost);
  });

  test('includes cached input at the input price without a cache price', () => {
    const usage = Usage.of({
      inputTokens: 1_000_000,
      outputTokens: 0,
      cacheReadTokens: 4e5,
      cacheWriteTokens: 4e5,
    });
    expect(costOf(usage, { input: 3, output: 0 })).toBeCloseTo(3, 12);
  });

  const reported: readonly (readonly [string, usage: CallUsage, expected: Partial<UsageFields>])[] = [
    ['the provider’s word wins over the price', { ...USAGE, cost: 7 }, { cost: 7, unpricedCalls: 0 }],
    ['a call that was free is not priced', { ...USAGE, cost: 0 }, { cost: 0, unpricedCalls: 0 }],
    ['a call without tokens is counted as unpriced', {}, { cost: undefined, unpricedCalls: 1 }],
    [
      'a call with half its tokens too',
      { inputTokens: 5 },
      { cost: undefined, unpricedCalls: 1, unreportedCalls: 1 },
    ],
  ];
  test.each(reported)('%s', async (_, usage, expected) => {
    const script = [{ text: 'Hi.', usage }];
    const { state } = await priced({ model: 'm', prices: { m: PRICE }, script });
    expect(state.usage).toMatchObject(expected);
  });

  test('is a lower bound in a sum with unpriced calls, which are counted', async () => {
    const work = { content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input: {} }] } as const;
    const script = [
      { ...work, usage: USAGE },
      { ...work, usage: {} },
      { text: 'Hi.', usage: { ...USAGE, cost: 1 } },
    ];
    const { state } = await priced({ model: 'm', prices: { m: PRICE }, tools: [does('a')], script });
    expect(state.cost).toBe(1 + COST);
    expect([state.usage.unpricedCalls, state.usage.unreportedCalls]).toEqual([1, 1]);
    expect([state.usage.isPriced, state.usage.isComplete]).toEqual([false, false]);
  });

  test('is part of the response that other hooks receive', async () => {
    const seen: unknown[] = [];
    const hook: Hook = { afterInference: (response) => void seen.push(response.usage.cost), priority: 1_500 };
    await priced({ model: 'm', prices: { m: PRICE }, hooks: [hook] });
    expect(seen).toEqual([COST]);
  });

  test('includes the usage of a tool', async () => {
    const agent = does('agent', (_, { addUsage }) => addUsage(Usage.of({ ...USAGE, cost: 2 })));
    const script = [call('agent'), call('agent')];
    const { state } = await priced({
      model: 'm',
      prices: { m: PRICE },
      tools: [agent],
      script,
      budget: { maxCost: 4 },
    });
    expect([state.stopReason, state.cost]).toEqual(['costLimitReached', 4.00014]);
  });
});

describe('a cost limit for a model without a price', () => {
  const rows: readonly (readonly [string, Scenario & { readonly model?: string }, message: string])[] = [
    [
      'fails before the first call',
      { model: 'unknown', prices: { m: PRICE } },
      'needs a price for model "unknown"',
    ],
    [
      'also when the model is not named',
      { prices: { m: PRICE } },
      'needs a price for the driver’s default model',
    ],
    [
      'also as a separate hook',
      { model: 'unknown', hooks: [costLimit(1, { prices: { m: PRICE } })], budget: {} },
      'needs a price for model "unknown"',
    ],
  ];
  test.each(rows)('%s', async (_, scenario, message) => {
    const told: unknown[] = [];
    const hooks = [...(scenario.hooks ?? []), { onError: (error: unknown) => void told.push(error) }];
    const { state, driver } = await priced({ budget: { maxCost: 1 }, ...scenario, hooks });
    expect([driver.requests.length, state.status, state.errors.length]).toEqual([0, 'failed', 1]);
    expect(state.errors[0]).toMatchObject({
      code: 'PRICE_UNKNOWN',
      message: expect.stringContaining(message),
    });
    expect(told).toMatchObject([{ code: 'PRICE_UNKNOWN' }]);
  });

  test('fails before the first call of it, when a hook changed the model', async () => {
    const change: Hook = { afterStep: (state) => state.withLlmConfig({ model: 'unknown' }) };
    const { state, driver } = await priced({
      model: 'm',
      prices: { m: PRICE },
      budget: { maxCost: 1 },
      script: [call('a')],
      tools: [does('a')],
      hooks: [change],
    });
    expect([driver.requests.length, state.status, state.errors[0]?.code]).toEqual([
      1,
      'failed',
      'PRICE_UNKNOWN',
    ]);
  });

  test('is not an error without the limit, and shows in the usage', async () => {
    const { state } = await priced({ model: 'unknown', prices: { m: PRICE } });
    expect([state.status, state.usage.unpricedCalls]).toEqual(['completed', 1]);
  });
});
