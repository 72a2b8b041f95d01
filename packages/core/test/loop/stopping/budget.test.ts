import { AgentState, costLimit, costOf, createAgentLoop, RunAbort, tool, Usage } from '@holdfast/core';
import type { BudgetLimits, Hook, Instant, ModelPrices } from '@holdfast/core';
import type { Driver, UsageFields } from '@holdfast/core/driver';
import type { CallUsage } from '@holdfast/core/engine';
import { manualClock } from '@holdfast/core/testing';
import type { ManualClock, ScriptedAnswer } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../support/arbitraries.ts';
import type { Observation, Scenario } from '../../support/builders.ts';
import {
  call,
  cameTo,
  does,
  driverOf,
  expectSound,
  nextStart,
  observe,
  told,
} from '../../support/builders.ts';

const HOUR = 3_600_000;

// Runs that are interrupted

/** What one call to the model uses. */
interface Cost {
  readonly tokens: number;
  readonly seconds: number;
  readonly dollars: number;
}

/** What becomes of a run after one of its steps. */
type Fate = 'goes on' | 'dies' | 'waits';

/** What was asked of the model in a run. */
interface Spending {
  readonly state: AgentState;
  /** What the calls used that were begun, whether they came to an end or not. */
  readonly calls: readonly Cost[];
  /** When each was begun. */
  readonly begunAt: readonly Instant[];
}

/**
 * Runs an agent that asks for a tool in every step, to its end. Where fate wants it, the run dies or waits after a step,
 * for an hour, is stored as JSON, and is taken up by another loop.
 */
async function spend(
  budget: BudgetLimits,
  costs: readonly Cost[],
  fates: readonly Fate[],
  clock: ManualClock,
): Promise<Spending> {
  const [calls, begunAt]: [Cost[], Instant[]] = [[], []];
  const driver = driverOf(async (_, { signal }) => {
    const cost = costs[calls.length];
    if (cost === undefined) return { text: 'Done.', usage: { inputTokens: 0, outputTokens: 0, cost: 0 } };
    calls.push(cost);
    begunAt.push(clock.now());
    clock.advance(cost.seconds * 1_000);
    const usage = { inputTokens: cost.tokens, outputTokens: 0, cost: cost.dollars };
    if (signal.aborted) return { finishReason: 'aborted', usage };
    const toolCallId = `call_${calls.length}`;
    return { content: [{ type: 'tool-call', toolCallId, toolName: 'a', input: {} }], usage };
  });
  const prices = { m: { input: 0, output: 0 } };
  const options = { driver, prices, clock, tools: [does('a')], budget: { maxSteps: Infinity, ...budget } };
  const fulfilled = new Set<number>();
  let state = told().withLlmConfig({ model: 'm' }, 1);
  for (;;) {
    const dying = new AbortController();
    const interrupts: Hook = {
      afterStep(now) {
        const fate = fates[now.stepCount - 1];
        if (fulfilled.has(now.stepCount)) return undefined;
        fulfilled.add(now.stepCount);
        if (fate === 'dies') dying.abort(new RunAbort('yield'));
        return fate === 'waits' ? now.withExecutionStatus('suspended', clock.now()) : undefined;
      },
    };
    const loop = createAgentLoop({ ...options, hooks: [interrupts] });
    state = expectSound(await loop.run(state, { signal: dying.signal }));
    if (!state.hasActiveExecution) return { state, calls, begunAt };
    clock.advance(HOUR);
    state = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
    if (state.status === 'suspended') state = state.withExecutionStatus('inProgress', clock.now());
  }
}

/** The limits that are used up by some calls, at a moment, as the loop would call them. */
function reasonsToStop(limits: BudgetLimits, spent: readonly Cost[], at: Instant = 0): readonly string[] {
  const { maxSteps = Infinity, maxTokens = Infinity, maxSeconds = Infinity } = limits;
  const { maxCost = Infinity, deadline = Infinity } = limits;
  const isTimeUp = sumOf(spent, 'seconds') >= maxSeconds || at >= deadline;
  return [
    spent.length >= maxSteps && 'stepsLimitReached',
    sumOf(spent, 'tokens') >= maxTokens && 'tokenLimitReached',
    isTimeUp && 'timeLimitReached',
    sumOf(spent, 'dollars') >= maxCost && 'costLimitReached',
  ].filter((reason) => reason !== false);
}

const sumOf = (costs: readonly Cost[], unit: keyof Cost): number =>
  costs.reduce((sum, cost) => sum + cost[unit], 0);

describe('a budget is kept over death and waiting, never exceeded by more than the call in flight', () => {
  const limits: readonly (readonly [
    string,
    (start: Instant) => BudgetLimits,
    reason: string,
    calls: number,
  ])[] = [
    ['steps', () => ({ maxSteps: 5 }), 'stepsLimitReached', 5],
    ['tokens', () => ({ maxTokens: 450 }), 'tokenLimitReached', 5],
    ['seconds', () => ({ maxSeconds: 45 }), 'timeLimitReached', 5],
    ['cost', () => ({ maxCost: 2.25 }), 'costLimitReached', 5],
    ['a deadline', (start) => ({ deadline: start + 45_000 }), 'timeLimitReached', 5],
    [
      'all of them',
      (start) => ({
        maxSteps: 8,
        maxTokens: 800,
        maxSeconds: 45,
        maxCost: 4,
        deadline: start + 5 * HOUR,
      }),
      'timeLimitReached',
      5,
    ],
  ];
  const ways: readonly (readonly [string, readonly Fate[]])[] = [
    ['uninterrupted', []],
    ['dead twice', ['dies', 'goes on', 'dies']],
    ['waiting twice', ['goes on', 'waits', 'waits']],
    ['dead, then waiting, then dead', ['dies', 'waits', 'dies']],
  ];
  const costs = Array.from({ length: 10 }, (): Cost => ({ tokens: 100, seconds: 10, dollars: 0.5 }));

  describe.each(limits)('%s', (name, limit, reason, calls) => {
    test.each(ways)('%s', async (_, fates) => {
      const start = nextStart();
      const { state, ...spent } = await spend(limit(start), costs, fates, manualClock(start));
      // A deadline does not wait: whoever was away for an hour has missed it.
      const hasMissedIt = name === 'a deadline' && fates.length > 0;
      const expected = hasMissedIt ? fates.findIndex((fate) => fate !== 'goes on') + 1 : calls;
      expect(spent.calls).toHaveLength(expected);
      expect([state.status, state.stopReason, state.stepCount, state.executionCount]).toEqual([
        'stopped',
        reason,
        expected,
        1,
      ]);
      expect(state.execution?.continuation.signals).toHaveLength(1);
    });

    test('comes to the same in every way', async () => {
      const ends: object[] = [];
      for (const [, fates] of ways) {
        const start = nextStart();
        const { state } = await spend(
          limit(start),
          costs,
          name === 'a deadline' ? [] : fates,
          manualClock(start),
        );
        ends.push(cameTo(state));
      }
      expect(ends).toEqual(ends.map(() => ends[0]));
    });
  });

  const cost = fc.record({
    tokens: fc.integer({ min: 0, max: 1_000 }),
    seconds: fc.integer({ min: 0, max: 100 }),
    dollars: fc.integer({ min: 0, max: 100 }).map((eighths) => eighths / 8),
  });
  const budget = fc.record(
    {
      maxSteps: fc.integer({ min: 0, max: 8 }),
      maxTokens: fc.integer({ min: 0, max: 4_000 }),
      maxSeconds: fc.integer({ min: 0, max: 400 }),
      maxCost: fc.integer({ min: 0, max: 400 }).map((eighths) => eighths / 8),
      /** In seconds from the start. */
      deadline: fc.integer({ min: 0, max: 10_000 }),
    },
    { requiredKeys: [] },
  );
  const fates = fc.array(fc.constantFrom<Fate[]>('goes on', 'dies', 'waits'), { maxLength: 6 });

  test('whatever the limits, the calls and the interruptions', async () => {
    await fc.assert(
      fc.asyncProperty(
        budget,
        fc.array(cost, { maxLength: 8 }),
        fates,
        async (limit, costs, interruptions) => {
          const start = nextStart();
          const { deadline: seconds, ...rest } = limit;
          const deadline = seconds === undefined ? undefined : start + seconds * 1_000;
          const { state, calls, begunAt } = await spend(
            { ...rest, deadline },
            costs,
            interruptions,
            manualClock(start),
          );
          const usedUp = (spent: readonly Cost[], at: Instant | undefined): readonly string[] =>
            reasonsToStop({ ...rest, deadline }, spent, at);
          // No call was begun with a limit used up; the limit that stopped the run was.
          const early = calls.flatMap((_, index) => usedUp(calls.slice(0, index), begunAt[index]));
          expect(early).toEqual([]);
          const { status, stopReason = 'none', updatedAt } = state;
          expect([...usedUp(calls, updatedAt), 'none']).toContain(stopReason);
          expect(status).toBe(stopReason === 'none' ? 'completed' : 'stopped');
          // What is in the state is what was spent.
          expect([state.usage.totalTokens, state.cost ?? 0]).toEqual([
            sumOf(calls, 'tokens'),
            sumOf(calls, 'dollars'),
          ]);
          expect(state.execution?.workedSeconds).toBe(sumOf(calls, 'seconds'));
        },
      ),
      cases(300),
    );
  });
});

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
    [
      'first by the id that was asked for',
      'best',
      { 'gpt-5-2025-08-07': { input: 0, output: 0 }, best: PRICE },
      COST,
    ],
    ['nowhere: not under another provider', 'openai:gpt-5', { 'azure:gpt-5': PRICE }, undefined],
    ['nowhere: not in what every object has', 'constructor', {}, undefined],
  ];
  test.each(rows)('%s', async (_, model, prices, cost) => {
    const script = [{ text: 'Hi.', usage: USAGE, modelId: 'gpt-5-2025-08-07' }];
    const { state } = await priced({ model, prices, script });
    expect(state.cost).toBe(cost);
    expect([state.usage.unpricedCalls, state.usage.isPriced]).toEqual(
      cost === undefined ? [1, false] : [0, true],
    );
  });

  test('by the driver, who knows better than the state which model it calls', async () => {
    const driver: Driver = {
      modelId: (llmConfig) => `real:${llmConfig?.model}`,
      infer: async () => ({ text: 'Hi.', usage: USAGE }),
    };
    const prices = { 'real:alias': PRICE, alias: { input: 0, output: 0 } };
    const { state } = await priced({ driver, prices, model: 'alias', script: [] });
    expect(state.cost).toBe(COST);
  });
});

describe('what a call costs', () => {
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
    ['nothing', { inputTokens: 0, outputTokens: 0 }, 0],
    ['input that was not reported', { outputTokens: 5 }, undefined],
    ['output that was not reported', { inputTokens: 5 }, undefined],
    ['nothing that was reported', {}, undefined],
  ];
  test.each(rows)('%s', (_, usage, cost) => {
    const found = costOf(Usage.of(usage), dear);
    expect(found && Math.round(found * 1e9) / 1e9).toBe(cost);
  });

  test('a cache without a price of its own costs as input', () => {
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
    ['a call without tokens stays unpriced, and says so', {}, { cost: undefined, unpricedCalls: 1 }],
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

  test('the sum is a lower bound, and says of how many calls it does not know', async () => {
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

  test('other hooks see an answer with its price', async () => {
    const seen: unknown[] = [];
    const hook: Hook = { afterInference: (response) => void seen.push(response.usage.cost), priority: 1_500 };
    await priced({ model: 'm', prices: { m: PRICE }, hooks: [hook] });
    expect(seen).toEqual([COST]);
  });

  test('what a tool used counts in the cost', async () => {
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

describe('a limit of cost for a model without a price', () => {
  const rows: readonly (readonly [string, Scenario & { readonly model?: string }, message: string])[] = [
    [
      'fails before the first call',
      { model: 'unknown', prices: { m: PRICE } },
      'no price for model "unknown"',
    ],
    ['when nobody names the model too', { prices: { m: PRICE } }, 'no price for the driver’s default model'],
    [
      'as a hook of its own too',
      { model: 'unknown', hooks: [costLimit(1, { prices: { m: PRICE } })], budget: {} },
      'no price for model "unknown"',
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

  test('fails before the first call to it, when the model was changed on the way', async () => {
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

  test('without a limit an unknown price is no error, and seen in the usage', async () => {
    const { state } = await priced({ model: 'unknown', prices: { m: PRICE } });
    expect([state.status, state.usage.unpricedCalls]).toEqual(['completed', 1]);
  });
});

describe('what is left, as a tool is told', () => {
  test('counts all that was spent, up to now', async () => {
    const clock = manualClock(nextStart());
    const deadline = clock.now() + HOUR;
    const left: unknown[] = [];
    const looks = tool({
      name: 'looks',
      description: 'Looks at what is left.',
      inputSchema: { type: 'object' },
      execute: (_, { remaining, addUsage }) => {
        clock.advance(2_000);
        addUsage({ inputTokens: 5, outputTokens: 5, cost: 1 });
        left.push(remaining().toJSON());
      },
    });
    const answers: ScriptedAnswer = () => (clock.advance(3_000), call('looks'));
    await observe({
      clock,
      state: told().withLlmConfig({ model: 'm' }, 1),
      script: [answers, answers, 'Done.'],
      tools: [looks],
      prices: { m: { input: 0, output: 0 } },
      budget: { maxSteps: 3, maxTokens: 60, maxSeconds: 60, maxCost: 100, deadline },
    });
    expect(left).toEqual([
      { maxSteps: 2, maxTokens: 35, maxSeconds: 55, maxCost: 99, deadline },
      { maxSteps: 1, maxTokens: 10, maxSeconds: 50, maxCost: 98, deadline },
    ]);
  });

  test('of no budget is the limit of steps', async () => {
    const left: unknown[] = [];
    const looks = does('looks', (_, context) => void left.push(context.remaining().toJSON()));
    await observe({ script: [call('looks'), 'Hi.'], tools: [looks] });
    await observe({ script: [call('looks'), 'Hi.'], tools: [looks], budget: { maxSteps: Infinity } });
    expect(left).toEqual([{ maxSteps: 19 }, { maxSteps: Number.MAX_SAFE_INTEGER }]);
  });
});
