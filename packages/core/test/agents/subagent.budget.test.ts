import {
  createAgentLoop,
  RunAbort,
  subagent,
  ToolExecution,
  type AgentLoop,
  type AgentState,
  type AgentStep,
  type BudgetLimits,
  type Hook,
  type Instant,
  type Tool,
} from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { manualClock, steppedClock, type ManualClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import {
  does,
  driverOf,
  expectPaired,
  expectSound,
  HOUR,
  nextStart,
  readBack,
  told,
} from '../support/builders.ts';
const TOKENS = 100;
const SECONDS = 10;
const DOLLARS = 0.5;
const prices = { m: { input: 0, output: 0 } };

/** Models that ask for a tool for ever; all of their calls are counted. */
class Models {
  readonly clock: ManualClock;
  calls = 0;

  constructor(start: Instant) {
    this.clock = manualClock(start);
  }

  asking(toolName: string): Driver {
    return driverOf(async (_, { signal }) => {
      if (++this.calls > 100) throw new Error('Nothing stops it.');
      const toolCallId = `call_${this.calls}`;
      this.clock.advance(SECONDS * 1_000);
      const usage = { inputTokens: TOKENS, outputTokens: 0, cost: DOLLARS };
      if (signal.aborted) return { finishReason: 'aborted', usage };
      return { content: [{ type: 'tool-call', toolCallId, toolName, input: { prompt: 'Go.' } }], usage };
    });
  }
}

/** Runs it to its end; what was left or waits is stored and, an hour later, taken up by another process. */
async function toEnd(
  loopOf: (signal: AbortController) => AgentLoop,
  clock: ManualClock,
): Promise<AgentState> {
  let state = told().withLlmConfig({ model: 'm' }, 1);
  for (;;) {
    const leaving = new AbortController();
    state = expectSound(await loopOf(leaving).run(state, { signal: leaving.signal }));
    if (!state.hasActiveExecution) return state;
    clock.advance(HOUR);
    state = readBack(state);
    if (state.status === 'suspended') state = decided(state, clock.now());
  }
}

/** Leaves for another process after these steps. */
function leavesAfter(steps: Set<number>, leaving: AbortController): Hook {
  return {
    afterStep({ stepCount }) {
      if (steps.delete(stepCount)) leaving.abort(new RunAbort('yield'));
    },
  };
}

/** Asks a person before the tools of a step. */
function asksIn(steps: Set<number>, clock: ManualClock): Hook {
  return {
    beforeToolUse(call, { state }) {
      if (!steps.delete(state.stepCount)) return undefined;
      const at = clock.now();
      const execution = ToolExecution.create(call).withApprovalRequested(at);
      const waiting = [{ type: 'approval', toolExecutionId: execution.id }] as const;
      const asked = state.withCurrentStep((state.currentStep as AgentStep).withToolExecution(execution), at);
      return { state: asked.withExecutionStatus('suspended', at, waiting) };
    },
  };
}

/** The person has denied it, and the run may go on. */
function decided(state: AgentState, at: Instant): AgentState {
  const step = state.currentStep as AgentStep;
  const execution = step.toolExecutions.find(({ isAwaitingApproval }) => isAwaitingApproval);
  const denied = execution?.withDecision({ type: 'denied', at }) as ToolExecution;
  return state.withCurrentStep(step.withToolExecution(denied), at).withExecutionStatus('inProgress', at);
}

/** The limits after which the fifth call is the last. */
const limits: readonly (readonly [string, (start: Instant) => BudgetLimits, reason: string])[] = [
  ['steps', () => ({ maxSteps: 5 }), 'stepsLimitReached'],
  ['tokens', () => ({ maxTokens: 450 }), 'tokenLimitReached'],
  ['seconds', () => ({ maxSeconds: 45 }), 'timeLimitReached'],
  ['cost', () => ({ maxCost: 2.25 }), 'costLimitReached'],
  ['deadline', (start) => ({ deadline: start + 45_000 }), 'timeLimitReached'],
];

interface Way {
  readonly name: string;
  readonly loop: (models: Models, budget: BudgetLimits) => (leaving: AbortController) => AgentLoop;
  /** Calls to models in all, when not 5. */
  readonly calls?: { readonly [limit: string]: number };
}

const unlimited = { maxSteps: Infinity };
const worker = (loop: AgentLoop, budget?: BudgetLimits): Tool =>
  subagent({ name: 'worker', description: 'Works.', loop, ...(budget && { budget }) });

/** An agent that calls a worker in each step. */
function withWorker(
  hooksOf: (models: Models) => (leaving: AbortController) => readonly Hook[] = () => () => [],
) {
  return (models: Models, budget: BudgetLimits): ((leaving: AbortController) => AgentLoop) => {
    const { clock } = models;
    const hooks = hooksOf(models);
    return (leaving) => {
      const child = createAgentLoop({
        clock,
        prices,
        driver: models.asking('a'),
        tools: [does('a')],
        budget: unlimited,
        hooks: hooks(leaving),
      });
      return createAgentLoop({
        clock,
        prices,
        driver: models.asking('worker'),
        tools: [worker(child)],
        budget: { ...unlimited, ...budget },
      });
    };
  };
}

/** One agent by itself. */
function alone(hooksOf: (models: Models) => (leaving: AbortController) => readonly Hook[] = () => () => []) {
  return (models: Models, budget: BudgetLimits): ((leaving: AbortController) => AgentLoop) => {
    const hooks = hooksOf(models);
    const options = { clock: models.clock, prices, driver: models.asking('a'), tools: [does('a')] };
    return (leaving) =>
      createAgentLoop({ ...options, budget: { ...unlimited, ...budget }, hooks: hooks(leaving) });
  };
}

const twice = (): ((leaving: AbortController) => readonly Hook[]) => {
  const steps = new Set([1, 3]);
  return (leaving) => [leavesAfter(steps, leaving)];
};

const ways: readonly Way[] = [
  { name: 'uninterrupted', loop: alone() },
  { name: 'resumed twice', loop: alone(twice), calls: { deadline: 1 } },
  {
    name: 'suspended for an approval',
    loop: alone(({ clock }) => {
      const steps = new Set([2]);
      return () => [asksIn(steps, clock)];
    }),
    calls: { deadline: 2 },
  },
  // Steps are each agent's own: 5 of the caller, and below them 4, 3, 2, 1 and none.
  { name: 'in a subagent', loop: withWorker(), calls: { steps: 15 } },
  {
    name: 'in a subagent that is resumed twice',
    loop: withWorker(twice),
    calls: { steps: 15, deadline: 2 },
  },
];

describe.each(limits)('the limit of %s is exceeded at most by the call in flight', (name, limit, reason) => {
  test.each(ways)('$name', async ({ loop, calls = {} }) => {
    const start = nextStart();
    const models = new Models(start);
    const state = await toEnd(loop(models, limit(start)), models.clock);
    const expected = calls[name] ?? 5;
    expect(models.calls).toBe(expected);
    expect([state.status, state.stopReason, state.executionCount]).toEqual(['stopped', reason, 1]);
    expect(state.usage.totalTokens).toBe(expected * TOKENS);
    expect(state.cost).toBe(expected * DOLLARS);
    expect(state.execution?.workedSeconds).toBe(expected * SECONDS);
    expect(state.stepCount).toBeLessThanOrEqual(5);
    expectPaired(state.messages);
  });

  test('the budget that a subagent’s tool declares is enforced', async () => {
    const start = nextStart();
    const models = new Models(start);
    const options = { clock: models.clock, prices };
    const child = createAgentLoop({
      ...options,
      driver: models.asking('a'),
      tools: [does('a')],
      budget: unlimited,
    });
    const budget = { ...limit(start), ...(name === 'deadline' && { deadline: start + 55_000 }) };
    const parent = createAgentLoop({
      ...options,
      driver: models.asking('worker'),
      tools: [worker(child, budget)],
      hooks: [{ afterStep: (now) => now.withStopSignal({ reason: 'stopRequested', message: 'Enough.' }) }],
    });
    const state = await parent.run(told().withLlmConfig({ model: 'm' }, 1));
    expect(models.calls).toBe(6);
    expect(state.steps[0]?.toolExecutions[0]?.error).toMatchObject({
      code: 'SUBAGENT_FAILED',
      data: { status: 'stopped', stopReason: reason },
    });
    expect(state.usage.totalTokens).toBe(600);
  });

  test('a declared budget does not exceed the caller’s remaining budget', async () => {
    const start = nextStart();
    const models = new Models(start);
    const options = { clock: models.clock, prices };
    const child = createAgentLoop({
      ...options,
      driver: models.asking('a'),
      tools: [does('a')],
      budget: unlimited,
    });
    const much = { maxSteps: 50, maxTokens: 5_000, maxSeconds: 500, maxCost: 50, deadline: start + HOUR };
    const parent = createAgentLoop({
      ...options,
      driver: models.asking('worker'),
      tools: [worker(child, much)],
      budget: { ...unlimited, ...limit(start) },
    });
    await parent.run(told().withLlmConfig({ model: 'm' }, 1));
    expect(models.calls).toBe(name === 'steps' ? 15 : 5);
  });
});

describe('a time limit that expires while code blocks timers', () => {
  const times: readonly (readonly [string, (start: Instant) => BudgetLimits])[] = [
    ['seconds', () => ({ maxSeconds: 60 })],
    ['deadline', (start) => ({ deadline: start + 60_000 })],
  ];
  test.each(times)('stops a subagent before its next step: %s', async (_, limit) => {
    const start = nextStart();
    const clock = steppedClock(start, 1_000);
    let calls = 0;
    const asking = (toolName: string): Driver =>
      driverOf(async () => {
        const input = { prompt: 'Go.' };
        return { content: [{ type: 'tool-call', toolCallId: `c${++calls}`, toolName, input }], usage };
      });
    const usage = { inputTokens: 1, outputTokens: 1 };
    const child = createAgentLoop({
      clock,
      driver: asking('a'),
      tools: [does('a')],
      budget: { maxSteps: 50 },
    });
    const tools = [worker(child)];
    const parent = createAgentLoop({ clock, driver: asking('worker'), tools, budget: limit(start) });
    const state = await parent.run(told());
    expect([state.status, state.stopReason, state.stepCount]).toEqual(['stopped', 'timeLimitReached', 1]);
    expect(state.errors).toMatchObject([{ data: { stopReason: 'timeLimitReached' } }]);
    expect(calls).toBeLessThan(10);
  });
});

describe('a budget of one run', () => {
  test.each(limits)('is enforced beside that of the loop: %s', async (_, limit, reason) => {
    const start = nextStart();
    const models = new Models(start);
    const loop = alone()(models, {})(new AbortController());
    const state = await loop.run(told().withLlmConfig({ model: 'm' }, 1), { budget: limit(start) });
    expect([models.calls, state.stopReason]).toEqual([5, reason]);
  });

  test('with maxCost requires prices', async () => {
    const loop = createAgentLoop({ driver: driverOf(async () => ({ text: 'Hi.' })) });
    await expect(loop.run(told(), { budget: { maxCost: 1 } })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
  });

  test('is part of the remaining budget that tools read', async () => {
    const left: unknown[] = [];
    const looks = does('a', (_, { remaining }) => void left.push(remaining().toJSON()));
    const models = new Models(nextStart());
    const loop = createAgentLoop({ clock: models.clock, driver: models.asking('a'), tools: [looks] });
    await loop.run(told(), { budget: { maxSteps: 2, maxTokens: 1_000 } });
    expect(left).toEqual([
      { maxSteps: 1, maxTokens: 900 },
      { maxSteps: 0, maxTokens: 800 },
    ]);
  });
});

describe('a cost limit for a subagent without prices', () => {
  test.each([
    ['without any', undefined],
    ['without the price of its model', { other: { input: 1, output: 1 } }],
  ])('%s fails with a clear error before its model is called', async (_, known) => {
    const models = new Models(nextStart());
    const child = createAgentLoop({
      clock: models.clock,
      driver: models.asking('a'),
      tools: [does('a')],
      ...(known && { prices: known }),
    });
    const parent = createAgentLoop({
      clock: models.clock,
      prices,
      driver: models.asking('worker'),
      tools: [worker(child)],
      budget: { maxCost: 10, maxSteps: 2 },
    });
    const state = await parent.run(told().withLlmConfig({ model: 'm' }, 1));
    expect(models.calls).toBe(2);
    // The second time the caller has no step left for it.
    expect(state.errors).toMatchObject([
      {
        code: 'SUBAGENT_FAILED',
        message: expect.stringContaining('needs a price for model "m"'),
        cause: { code: 'PRICE_UNKNOWN' },
      },
      { code: 'SUBAGENT_FAILED', data: { stopReason: 'stepsLimitReached' } },
    ]);
  });
});

describe('parallel agents share the remaining budget', () => {
  const costs = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 30 });
  const shares = fc.record({
    agents: fc.integer({ min: 1, max: 5 }),
    levels: fc.integer({ min: 1, max: 2 }),
    maxTokens: fc.integer({ min: 1, max: 2_000 }),
    costs,
    ticks: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 10 }),
  });

  test('the calls in flight exceed it at most, and all usage is counted once', async () => {
    await fc.assert(
      fc.asyncProperty(shares, async ({ agents, levels, maxTokens, costs: all, ticks }) => {
        let [begun, spent] = [0, 0];
        const early: number[] = [];
        const work = driverOf(async () => {
          if (spent >= maxTokens) early.push(spent);
          const index = begun++;
          for (let tick = ticks[index % ticks.length] ?? 0; tick > 0; tick--) await new Promise(setImmediate);
          const inputTokens = all[index % all.length] ?? 0;
          spent += inputTokens;
          const usage = { inputTokens, outputTokens: 0 };
          if (index > 40) return { text: 'Done.', usage };
          return {
            content: [{ type: 'tool-call', toolCallId: `c${index}`, toolName: 'a', input: {} }],
            usage,
          };
        });
        let loop = createAgentLoop({ driver: work, tools: [does('a')] });
        for (let level = 0; level < levels; level++) loop = callsAtOnce(loop, agents, maxTokens);
        const state = expectSound(await loop.run(told()));
        const inFlight = agents ** levels;
        expect(early.length).toBeLessThan(inFlight);
        expect(spent).toBeLessThan(maxTokens + inFlight * Math.max(1, ...all));
        expect(state.usage.totalTokens).toBe(spent);
        expect(begun).toBeGreaterThan(0);
      }),
      cases(60),
    );
  });

  /** An agent that calls so many workers in its first step; its own answers are free. */
  function callsAtOnce(child: AgentLoop, agents: number, maxTokens: number): AgentLoop {
    const driver = driverOf(async ({ messages }) => {
      const usage = { inputTokens: 0, outputTokens: 0 };
      if ([...messages].some(({ role }) => role === 'tool')) return { text: 'Done.', usage };
      const calls = Array.from({ length: agents }, (_, index) => {
        const input = { prompt: 'Go.' };
        return { type: 'tool-call', toolCallId: `w${index}`, toolName: 'worker', input } as const;
      });
      return { content: calls, usage };
    });
    return createAgentLoop({ driver, tools: [worker(child)], budget: { maxTokens } });
  }
});
