import { allSections, conversationWithCurrentToolTrace } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../src/caching/agents.ts';
import { measureTurns, sumOf, type MeasuredTurn } from '../../src/caching/measure.ts';
import { anthropic, google, openAi, PRICES, type CachingProvider } from '../../src/caching/providers.ts';

async function turnsOf(
  provider: CachingProvider,
  agent: string,
  compiler = conversationWithCurrentToolTrace(),
): Promise<readonly MeasuredTurn[]> {
  const shape = AGENTS.find(({ name }) => name === agent);
  if (!shape) throw new Error(`There is no agent "${agent}".`);
  return measureTurns({ provider, shape, compiler, promptCache: 'auto' });
}

/** The first call of each turn: its tokens, those that begin the call before too, and those that were cached. */
function firstCalls(turns: readonly MeasuredTurn[]): readonly string[] {
  return turns.map(({ first, shared }) => `${first.tokens} ${shared.tokens} ${first.cacheRead}`);
}

describe('the first call of each of ten turns reads the conversation of the turn before', () => {
  test.each([
    [
      'Anthropic',
      anthropic,
      [
        '3129 0 0',
        '3950 3129 3129',
        '4771 3950 3950',
        '5592 4771 4771',
        '6413 5592 5592',
        '7234 6413 6413',
        '8055 7234 7234',
        '8876 8055 8055',
        '9697 8876 8876',
        '10518 9697 9697',
      ],
    ],
    [
      'OpenAI',
      openAi,
      [
        '3176 0 0',
        '3992 3176 3072',
        '4808 3992 3968',
        '5624 4808 4736',
        '6440 5624 5504',
        '7256 6440 6400',
        '8072 7256 7168',
        '8888 8072 8064',
        '9704 8888 8832',
        '10520 9704 9600',
      ],
    ],
    [
      'Google',
      google,
      [
        '3145 0 0',
        '3959 3145 0',
        '4773 3959 0',
        '5587 4773 4773',
        '6401 5587 5587',
        '7215 6401 6401',
        '8029 7215 7215',
        '8843 8029 8029',
        '9657 8843 8843',
        '10471 9657 9657',
      ],
    ],
  ])('%s', async (_, provider, expected) => {
    expect(firstCalls(await turnsOf(provider, 'research'))).toEqual(expected);
  });
});

test('Anthropic reads all that it wrote, also after a step with more blocks than it searches', async () => {
  const compilers = [conversationWithCurrentToolTrace(), allSections()];
  const measured = compilers.map((compiler) => turnsOf(anthropic, 'coding', compiler));
  const inputs = (await Promise.all(measured)).map((turns) => sumOf(turns.map(({ input }) => input)));
  expect(inputs).toEqual([
    { cacheRead: 1302515, cacheWrite: 126718, fresh: 0 },
    { cacheRead: 5921891, cacheWrite: 126718, fresh: 0 },
  ]);
});

test.each([
  ['Anthropic', anthropic, 'claude-sonnet-4-5'],
  ['OpenAI', openAi, 'gpt-5'],
  ['Google', google, 'gemini-2.5-pro'],
])('%s: cached tokens have their own price', async (_, provider, modelId) => {
  const price = PRICES[modelId];
  if (!price) throw new Error(`There is no price of "${modelId}".`);
  for (const { input, output, usage } of await turnsOf(provider, 'research')) {
    const { fresh, cacheRead, cacheWrite } = input;
    expect(usage.inputTokens).toBe(fresh + cacheRead + cacheWrite);
    expect([usage.cacheReadTokens ?? 0, usage.cacheWriteTokens ?? 0]).toEqual([cacheRead, cacheWrite]);
    const dollars =
      fresh * price.input +
      cacheRead * (price.cacheRead ?? NaN) +
      (cacheWrite && cacheWrite * (price.cacheWrite ?? NaN)) +
      output * price.output;
    expect(usage.cost).toBeCloseTo(dollars / 1_000_000, 10);
  }
});
