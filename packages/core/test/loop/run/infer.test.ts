import {
  consoleObserver,
  costLimit,
  createAgentLoop,
  redactedListener,
  subagent,
  type AgentEvent,
  type Hook,
  type LlmConfig,
  type AgentState,
} from '@holdfast/core';
import type { EffectiveRequest, Driver, InferenceRequest } from '@holdfast/core/driver';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does, observe, told, type Observation, type Scenario } from '../../support/builders.ts';

const usage = { inputTokens: 10, outputTokens: 5 };
const CHEAP = { model: 'cheap' };
const DEAR = { model: 'dear' };
const prices = { cheap: { input: 1, output: 1 }, dear: { input: 1_000_000, output: 1_000_000 } };
const COST_OF_DEAR = 15;
const cheap = told().withLlmConfig(CHEAP, 1);
const look: ScriptedAnswer = { calls: [['look', {}]], usage };
const answer: ScriptedAnswer = { text: 'Hi.', usage };

/** A hook that calls with something else. */
const routes = (change: Partial<InferenceRequest>): Hook => ({
  name: 'router',
  beforeInference: (request) => ({ request: { ...request, ...change } }),
});

const run = (scenario: Scenario): Promise<Observation> =>
  observe({ state: cheap, script: [look, answer], tools: [does('look')], prices, ...scenario });

const requestsOf = ({ state }: Observation): EffectiveRequest[] =>
  state.steps.map((step) => state.requestOf(step));
const startsOf = ({ events }: Observation): EffectiveRequest[] =>
  events.flatMap((event) => (event.type === 'inference-started' ? [event.request] : []));

describe('a call that a hook redirects to another model', () => {
  test.for([
    ['a provider that names no model', answer],
    ['a provider that names it', { ...answer, modelId: 'dear' }],
    ['a provider that names it by its own id', { ...answer, modelId: 'dear-2026' }],
  ] as const)('has the price of that model, with %s', async ([, script]) => {
    const seen = await run({ hooks: [routes({ llmConfig: DEAR })], script: [script] });
    expect([seen.state.cost, seen.state.usage.isPriced]).toEqual([COST_OF_DEAR, true]);
  });

  test('counts in the cost limit', async () => {
    const seen = await run({ hooks: [routes({ llmConfig: DEAR })], budget: { maxCost: 1 } });
    expect([seen.driver.requests.length, seen.state.stopReason, seen.state.cost]).toEqual([
      1,
      'costLimitReached',
      COST_OF_DEAR,
    ]);
  });

  test.for([
    ['of the loop', { budget: { maxCost: 1 } }, []],
    ['as a hook of its own', {}, [costLimit(1, { prices })]],
  ] as const)(
    'does not run under a cost limit, %s, when that model has no price',
    async ([, options, guards]) => {
      const seen = await run({ ...options, hooks: [...guards, routes({ llmConfig: { model: 'unknown' } })] });
      expect([seen.driver.requests.length, seen.state.status]).toEqual([0, 'failed']);
      expect(seen.state.errors).toMatchObject([
        { code: 'PRICE_UNKNOWN', message: expect.stringContaining('model "unknown"') },
      ]);
      expect(seen.trace).not.toContain('+infer');
    },
  );

  test('runs when that model has a price and the model of the state has none', async () => {
    const state = told().withLlmConfig({ model: 'unknown' }, 1);
    const seen = await run({ state, budget: { maxCost: 100 }, hooks: [routes({ llmConfig: DEAR })] });
    expect([seen.driver.requests.length, seen.state.status, seen.state.cost]).toEqual([
      2,
      'completed',
      2 * COST_OF_DEAR,
    ]);
  });

  test('is recorded in the step and in the event, with the effective request', async () => {
    const llmConfig = { model: 'dear', temperature: 0, providerOptions: { x: { y: 1 } } };
    const request = { llmConfig, toolChoice: 'required' } as const;
    const seen = await run({ hooks: [routes(request)] });
    const sent = { model: 'dear', ...request };
    expect(requestsOf(seen)).toEqual([sent, sent]);
    expect(startsOf(seen)).toEqual([sent, sent]);
    expect(seen.state.llmConfig).toEqual(CHEAP);
  });
});

describe('a hook that changes the settings of the state during a step', () => {
  const change: Hook = { beforeInference: (_, { state }) => ({ state: state.withLlmConfig(DEAR, 9) }) };

  test('changes the settings of the next step; this step is priced as it was called', async () => {
    const seen = await run({ hooks: [change], script: [answer] });
    expect(seen.driver.requests.map(({ llmConfig }) => llmConfig)).toEqual([CHEAP]);
    expect([seen.state.cost, seen.state.llmConfig]).toEqual([0.000_015, DEAR]);
    expect(requestsOf(seen)).toEqual([{ model: 'cheap', llmConfig: CHEAP, toolChoice: 'auto' }]);
  });

  test('determines how the next step is called and priced', async () => {
    const seen = await run({ hooks: [change] });
    expect(seen.driver.requests.map(({ llmConfig }) => llmConfig)).toEqual([CHEAP, DEAR]);
    expect(requestsOf(seen).map(({ model }) => model)).toEqual(['cheap', 'dear']);
    expect(seen.state.cost).toBe(COST_OF_DEAR + 0.000_015);
  });
});

describe('the recorded request of a step', () => {
  const versionOf = (state: AgentState): unknown => (state.toJSON() as { readonly version: number }).version;

  test('is absent when the state has the same settings: the document has version 1', async () => {
    const seen = await run({});
    expect([versionOf(seen.state), seen.state.steps.map(({ request }) => request)]).toEqual([
      1,
      [undefined, undefined],
    ]);
    expect(startsOf(seen)[0]).toEqual({ model: 'cheap', llmConfig: CHEAP, toolChoice: 'auto' });
  });

  test('does not contain the default model of a driver, which the event names', async () => {
    const driver: Driver = {
      modelId: (llmConfig) => llmConfig?.model ?? 'default',
      infer: async () => ({ text: 'Hi.' }),
    };
    const seen = await run({ state: told(), driver });
    expect([versionOf(seen.state), startsOf(seen)[0]?.model]).toEqual([1, 'default']);
  });

  test('names the model that the driver resolves', async () => {
    const driver: Driver = {
      modelId: (llmConfig) => `real:${llmConfig?.model}`,
      infer: async () => ({ text: 'Hi.' }),
    };
    const seen = await run({ driver });
    const sent = { model: 'real:cheap', llmConfig: CHEAP, toolChoice: 'auto' };
    expect([requestsOf(seen), startsOf(seen)]).toEqual([[sent], [sent]]);
    expect(versionOf(seen.state)).toBe(2);
  });

  test('contains the tool choice of the loop', async () => {
    const seen = await run({ toolChoice: { toolName: 'look' } });
    expect(requestsOf(seen).map(({ toolChoice }) => toolChoice)).toEqual([
      { toolName: 'look' },
      { toolName: 'look' },
    ]);
  });

  test('is recorded before the model is called, and stays when the call fails', async () => {
    const kept: unknown[] = [];
    const checkpoint = { save: async (state: AgentState) => state };
    const seen = await run({
      hooks: [routes({ llmConfig: DEAR })],
      script: [new Error('down')],
      run: { checkpoint },
    });
    for (const { type, state } of seen.events)
      if (type === 'inference-started') kept.push(state.currentStep?.request);
    expect(kept).toEqual([{ llmConfig: DEAR }]);
    expect([seen.state.status, seen.state.lastStep?.request]).toEqual(['failed', { llmConfig: DEAR }]);
  });

  test('is that of the repeated call, when a resumed step uses another request', async () => {
    const open = (await runToInference(DEAR)) as AgentState;
    expect(open.currentStep?.request).toEqual({ llmConfig: DEAR });
    const seen = await run({ state: open, script: [answer] });
    expect(requestsOf(seen)).toEqual([{ model: 'cheap', llmConfig: CHEAP, toolChoice: 'auto' }]);
  });

  /** A state in a step whose model is being called with these settings. */
  async function runToInference(llmConfig: LlmConfig): Promise<AgentState | undefined> {
    let open: AgentState | undefined;
    const seen = await run({ hooks: [routes({ llmConfig })], script: [answer] });
    for (const { type, state } of seen.events) if (type === 'inference-started') open ??= state;
    return open;
  }
});

test('a hook that returns a request that cannot be stored is refused, with its name', async () => {
  for (const change of [
    { llmConfig: { apiKey: 'secret' } as LlmConfig },
    { toolChoice: 'never' as 'none' },
  ]) {
    const seen = await run({ hooks: [routes(change)] });
    expect([seen.driver.requests.length, seen.state.errors[0]]).toMatchObject([
      0,
      { code: 'HOOK_FAILED', message: expect.stringContaining('Hook "router"') },
    ]);
  }
});

test('a hook can forbid a call by its request, after all other hooks', async () => {
  const allows: Hook = {
    name: 'allows',
    checkRequest({ llmConfig }) {
      if (llmConfig?.model === 'dear') throw new Error('Too dear.');
    },
  };
  const seen = await run({ hooks: [allows, routes({ llmConfig: DEAR })] });
  expect([seen.driver.requests.length, seen.state.errors[0]]).toMatchObject([
    0,
    {
      code: 'HOOK_FAILED',
      message: expect.stringContaining('Hook "allows" failed in checkRequest: Too dear.'),
    },
  ]);
  expect((await run({ hooks: [allows] })).state.status).toBe('completed');
});

describe('an observer', () => {
  const llmConfig = { model: 'dear', stopSequences: ['secret'], providerOptions: { x: { key: 'secret' } } };

  test('with redaction receives model and settings, without their content', async () => {
    const seen: AgentEvent[] = [];
    await run({
      hooks: [routes({ llmConfig })],
      listeners: [redactedListener((event) => void seen.push(event))],
    });
    expect(JSON.stringify(seen)).not.toContain('secret');
    const starts = seen.flatMap((event) => (event.type === 'inference-started' ? [event.request] : []));
    expect(starts[0]).toEqual({ model: 'dear', llmConfig: { model: 'dear' }, toolChoice: 'auto' });
    const steps = seen.flatMap((event) =>
      event.type === 'step-completed' ? [event.state.requestOf(event.stepExecution.step)] : [],
    );
    expect(steps.map(({ model }) => model)).toEqual(['dear', 'dear']);
  });

  test('with redaction receives the settings of earlier steps', async () => {
    const models: unknown[] = [];
    const changes: Hook = { afterStep: (state) => state.withLlmConfig(DEAR, 9) };
    const listener = redactedListener((event) => {
      if (event.type === 'step-completed') models.push(event.state.requestOf(event.stepExecution.step).model);
    });
    await run({ hooks: [changes], script: [answer], listeners: [listener] });
    expect(models).toEqual(['cheap']);
  });

  test('on the console shows a model other than that of the state', async () => {
    const lines: string[] = [];
    const listeners = [consoleObserver({ write: (line) => void lines.push(line.trim()) })];
    await run({ hooks: [routes({ llmConfig })], script: [answer], listeners });
    expect(lines.filter((line) => line.startsWith('model'))).toEqual(['model dear']);
    lines.length = 0;
    await run({ script: [answer], listeners });
    expect(lines.filter((line) => line.startsWith('model'))).toEqual([]);
  });
});

test('a subagent under a cost limit is not called with a model without a price', async () => {
  const calls: unknown[] = [];
  const child = createAgentLoop({
    driver: { infer: async ({ llmConfig }) => (calls.push(llmConfig), { text: 'Hi.', usage }) },
    prices,
    hooks: [routes({ llmConfig: { model: 'unknown' } })],
  });
  const agent = subagent({ name: 'child', description: 'Helps.', loop: child });
  const seen = await run({
    tools: [agent],
    budget: { maxCost: 100 },
    script: [{ calls: [['child', { prompt: 'Go.' }]], usage }, answer],
  });
  expect(calls).toEqual([]);
  expect(seen.state.errors).toMatchObject([{ code: 'SUBAGENT_FAILED', cause: { code: 'PRICE_UNKNOWN' } }]);
});
