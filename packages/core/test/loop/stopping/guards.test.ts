import {
  AgentStop,
  cancellation,
  costLimit,
  createAgentLoop,
  deadline,
  ExecutionBudget,
  finishReason,
  retryLimit,
  stepsLimit,
  timeLimit,
  tokenLimit,
  Usage,
  type AgentState,
  type BudgetLimits,
  type FinishReason,
  type Hook,
  type Instant,
  type ToolOutcome,
} from '@holdfast/core';
import { OUTCOME_RULES, guardsFor, type HookPoint, type ToolOutcomeType } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  does,
  nextStart,
  observe,
  scriptedLoop,
  throwIt,
  told,
  type Observation,
  type Scenario,
} from '../../support/builders.ts';
const USAGE = { inputTokens: 10, outputTokens: 5 };
const prices = { 'gpt-5': { input: 1_000, output: 2_000 } };
/** What a call of 10 and 5 tokens costs at these prices. */
const COST = 0.02;
const knowsItsModel = told().withLlmConfig({ model: 'openai:gpt-5' }, 1);

/**
 * A run in which every step takes 10 seconds in the model and asks for a tool, until it is stopped; its calls to the
 * model are counted.
 */
async function working(scenario: Scenario, start = nextStart(), maxCalls = 30): Promise<Observation> {
  const clock = manualClock(start);
  const step: ScriptedAnswer = (_, { signal }) => {
    clock.advance(10_000);
    return signal.aborted ? { finishReason: 'aborted', usage: USAGE } : call('work');
  };
  const script = Array.from({ length: maxCalls }, () => step);
  const defaults = { state: knowsItsModel, tools: [does('work')], budget: { maxSteps: Infinity } };
  return observe({ ...defaults, prices, clock, script: [...script, 'Done.'], ...scenario });
}

interface LimitRow {
  readonly name: string;
  readonly limit: (start: Instant) => BudgetLimits;
  /** Calls to the model until the limit stops it. */
  readonly calls: number;
  readonly reason: string;
  readonly source: string;
}

const limits: readonly LimitRow[] = [
  ...[0, 1, 3].map((maxSteps): LimitRow => {
    const row = { reason: 'stepsLimitReached', source: 'stepsLimit', calls: maxSteps };
    return { ...row, name: `${maxSteps} steps`, limit: () => ({ maxSteps }) };
  }),
  ...[
    { maxTokens: 0, calls: 0 },
    { maxTokens: 1, calls: 1 },
    { maxTokens: 29, calls: 2 },
    { maxTokens: 30, calls: 2 },
    { maxTokens: 31, calls: 3 },
  ].map(({ maxTokens, calls }): LimitRow => {
    const row = { reason: 'tokenLimitReached', source: 'tokenLimit', calls };
    return { ...row, name: `${maxTokens} tokens`, limit: () => ({ maxTokens }) };
  }),
  ...[
    { maxSeconds: 0, calls: 0 },
    { maxSeconds: 15, calls: 2 },
    { maxSeconds: 20, calls: 2 },
    { maxSeconds: 20.001, calls: 3 },
  ].flatMap(({ maxSeconds, calls }): LimitRow[] => [
    {
      name: `${maxSeconds} seconds`,
      limit: () => ({ maxSeconds }),
      calls,
      reason: 'timeLimitReached',
      source: 'timeLimit',
    },
    {
      name: `a deadline in ${maxSeconds} seconds`,
      limit: (start) => ({ deadline: start + maxSeconds * 1_000 }),
      calls,
      reason: 'timeLimitReached',
      source: 'deadline',
    },
  ]),
  ...[
    { maxCost: 0, calls: 0 },
    { maxCost: COST, calls: 1 },
    { maxCost: COST * 2.5, calls: 3 },
  ].map(({ maxCost, calls }): LimitRow => {
    const row = { reason: 'costLimitReached', source: 'costLimit', calls };
    return { ...row, name: `${maxCost} dollars`, limit: () => ({ maxCost }) };
  }),
];

/** The signals of a run, as their reasons and sources. */
const signalsOf = (state: AgentState): readonly string[] =>
  (state.execution?.continuation.signals ?? []).map(({ reason, source }) => `${reason} by ${source}`);

describe('every limit of a budget stops before a further call is paid for', () => {
  test.each(limits)('$name', async ({ limit, calls, reason, source }) => {
    const start = nextStart();
    const { state, driver } = await working({ budget: { maxSteps: Infinity, ...limit(start) } }, start);
    expect(driver.requests).toHaveLength(calls);
    expect([state.status, state.stopReason, signalsOf(state)]).toEqual([
      'stopped',
      reason,
      [`${reason} by ${source}`],
    ]);
    expect(state.execution?.continuation.wasForceStopped).toBe(true);
    expect(state.hasFinalResponse).toBe(false);
  });

  test.each(limits)('$name, as a separate hook', async ({ limit, calls, reason, source }) => {
    const start = nextStart();
    const hooks = guardsFor(limit(start), { prices });
    const { state, driver } = await working({ prices: undefined as never, hooks }, start);
    expect(driver.requests).toHaveLength(calls);
    expect([state.status, signalsOf(state)]).toEqual(['stopped', [`${reason} by ${source}`]]);
  });

  test.each([{ maxSteps: 4 }, { maxTokens: 60 }, { maxSeconds: 40 }, { maxCost: 4 * COST }] as const)(
    '%j: a final response at the limit stays a final response',
    async (budget) => {
      const clock = manualClock(nextStart());
      const steps = Array.from({ length: 3 }, () => () => (clock.advance(10_000), call('work')));
      const script = [...steps, () => (clock.advance(9_999), { text: 'Done.', usage: USAGE })];
      const { state } = await working({ clock, script, budget: { maxSteps: Infinity, ...budget } });
      expect([state.status, state.finalResponse, signalsOf(state)]).toEqual(['completed', 'Done.', []]);
    },
  );

  test('a signal contains the limit and the amount used', async () => {
    const { state } = await working({ budget: { maxTokens: 29 } });
    expect(state.stopSignal).toEqual({
      reason: 'tokenLimitReached',
      message: '30 of 29 tokens are used up.',
      context: { limit: 29, spent: 30 },
      source: 'tokenLimit',
    });
  });
});

describe('a limit is not overridden by a hook that always requests another step', () => {
  const asks = (state: AgentState): AgentState => state.withContinuationRequested(0);
  const insistent: Readonly<Partial<Record<HookPoint, Hook>>> = {
    beforeExecution: { beforeExecution: asks },
    beforeStep: { beforeStep: asks },
    beforeInference: { beforeInference: (_, { state }) => ({ state: asks(state) }) },
    afterInference: { afterInference: (_, { state }) => ({ state: asks(state) }) },
    beforeToolUse: { beforeToolUse: (_, { state }) => ({ state: asks(state) }) },
    afterToolUse: { afterToolUse: (_, { state }) => ({ state: asks(state) }) },
    afterStep: { afterStep: asks },
    onStop: { onStop: asks },
  };
  const everywhere: Hook = Object.assign({}, ...Object.values(insistent));
  const hooks: readonly (readonly [string, readonly Hook[]])[] = [
    ...Object.entries(insistent).map(([point, hook]) => [point, [hook]] as const),
    ['every point', [everywhere]],
    ['every point, first of all', [{ ...everywhere, priority: 5_000 }]],
  ];
  const table = limits.flatMap((row) => hooks.map(([point, asking]) => ({ ...row, point, asking })));

  test.each(table)('$name: requested at $point', async ({ limit, asking, calls, reason, source }) => {
    const start = nextStart();
    const budget = { maxSteps: Infinity, ...limit(start) };
    const { state, driver } = await working({ budget, hooks: asking }, start);
    expect(driver.requests).toHaveLength(calls);
    expect([state.status, signalsOf(state)]).toEqual(['stopped', [`${reason} by ${source}`]]);
  });

  const stops: readonly (readonly [string, Hook])[] = [
    [
      'an AgentStop in beforeStep',
      {
        beforeStep: ({ stepCount }) => {
          if (stepCount === 2) throw new AgentStop('enough');
        },
      },
    ],
    ['a cancellation', cancellation(({ stepCount }) => stepCount === 2)],
    ['a limit of consecutive failures', retryLimit(1)],
  ];
  test.each(stops)('%s', async (_, stop) => {
    const fails = does('work', () => {
      throw new Error('no luck');
    });
    for (const [, asking] of hooks) {
      const { state, driver } = await working({ tools: [fails], hooks: [...asking, stop] });
      expect([driver.requests.length, state.status]).toEqual([2, 'stopped']);
      expect(state.execution?.continuation.signals).toHaveLength(1);
    }
  });
});

describe('invalid limits are refused', () => {
  const wrong: readonly (readonly [string, () => unknown])[] = [
    ...[-1, 1.5, Number.NaN].map((limit) => [`stepsLimit(${limit})`, () => stepsLimit(limit)] as const),
    ...[-1, 1.5, Number.NaN].map((limit) => [`retryLimit(${limit})`, () => retryLimit(limit)] as const),
    ...[-1, Number.NaN].flatMap((limit) => [
      [`tokenLimit(${limit})`, () => tokenLimit(limit)] as const,
      [`timeLimit(${limit})`, () => timeLimit(limit)] as const,
      [`costLimit(${limit})`, () => costLimit(limit, { prices })] as const,
    ]),
    ...[Number.NaN, Infinity, 1e300, Number.MAX_SAFE_INTEGER].map(
      (at) => [`deadline(${at})`, () => deadline(at)] as const,
    ),
    ['a budget of half a step', () => guardsFor({ maxSteps: 0.5 })],
    ['a cost limit without prices', () => guardsFor({ maxCost: 1 })],
    [
      'a loop with a cost limit without prices',
      () => createAgentLoop({ driver: scriptedDriver(), budget: { maxCost: 1 } }),
    ],
    [
      'a loop with a negative limit of consecutive failures',
      () => createAgentLoop({ driver: scriptedDriver(), maxConsecutiveFailures: -1 }),
    ],
  ];
  test.each(wrong)('%s', (_, make) => {
    const error = expect.objectContaining({ name: 'RangeError', code: 'ARGUMENT_INVALID' });
    expect(make).toThrow(error);
  });

  test('a limit that must be a whole number names this in its error', () => {
    expect(() => stepsLimit(1.5)).toThrow(
      'maxSteps of stepsLimit must be a whole number of at least 0, found number 1.5.',
    );
  });
});

describe('the guards of a budget', () => {
  const names = (budget: BudgetLimits): unknown[] => guardsFor(budget, { prices }).map(({ name }) => name);

  test('contain one guard for each limit', () => {
    const all = { maxSteps: 1, maxTokens: 1, maxSeconds: 1, maxCost: 1, deadline: 1 };
    const expected = ['stepsLimit', 'tokenLimit', 'timeLimit', 'costLimit', 'deadline'];
    expect(names(all)).toEqual(expected);
    expect(names(ExecutionBudget.of(all))).toEqual(expected);
  });

  test('contain no guard without a limit', () => {
    const infinite = Object.fromEntries(
      ['maxSteps', 'maxTokens', 'maxSeconds', 'maxCost', 'deadline'].map((limit) => [limit, Infinity]),
    );
    expect([names({}), names(infinite), names(ExecutionBudget.unlimited())]).toEqual([[], [], []]);
  });

  const withoutSteps: readonly (readonly [string, BudgetLimits | undefined])[] = [
    ['no budget', undefined],
    ['a budget of something else', { maxTokens: 1e9 }],
    ['a budget without maxSteps', { maxSteps: undefined }],
    ['an empty budget', {}],
    ['an ExecutionBudget of something else', ExecutionBudget.of({ maxTokens: 1e9 })],
    ['an empty ExecutionBudget', ExecutionBudget.of({})],
  ];
  test.each(withoutSteps)('%s: 20 steps are the limit', async (_, budget) => {
    const script = Array.from({ length: 21 }, () => call('work'));
    const loop = scriptedLoop(script, { tools: [does('work')], ...(budget && { budget }) });
    const state = await loop.run(told());
    expect([state.stepCount, state.stopReason]).toEqual([20, 'stepsLimitReached']);
  });

  test.each([
    ['Infinity', { maxSteps: Infinity }],
    ['Infinity as an ExecutionBudget', ExecutionBudget.of({ maxSteps: Infinity, maxTokens: 1e9 })],
    ['an unlimited ExecutionBudget', ExecutionBudget.unlimited()],
  ] as const)('%s: no limit of steps', async (_, budget) => {
    const script = [...Array.from({ length: 21 }, () => call('work')), 'Done.'];
    const state = await scriptedLoop(script, { tools: [does('work')], budget }).run(told());
    expect([state.stepCount, state.status]).toEqual([22, 'completed']);
  });

  test('stop at the limit that is reached first', async () => {
    const { state } = await working({ budget: { maxSteps: 5, maxTokens: 45, maxSeconds: 45 } });
    expect(signalsOf(state)).toEqual(['tokenLimitReached by tokenLimit']);
  });

  test('stop at the limit with the lowest rank when several are reached at once', async () => {
    const { state } = await working({ budget: { maxSteps: 3, maxTokens: 45, maxCost: 3 * COST } });
    expect(signalsOf(state)).toEqual(['stepsLimitReached by stepsLimit']);
  });

  test('store nothing between runs of one loop', async () => {
    const hooks = guardsFor({ maxSteps: 2, maxTokens: 1_000, maxSeconds: 1_000 });
    for (let run = 0; run < 3; run++) {
      const { driver } = await working({ hooks });
      expect(driver.requests).toHaveLength(2);
    }
  });

  test('run before other hooks, whatever the order of registration', async () => {
    const order: string[] = [];
    const other: Hook = { beforeStep: ({ stopReason }) => void order.push(`other saw ${stopReason}`) };
    await working({ hooks: [other, stepsLimit(0)] });
    expect(order).toEqual(['other saw stepsLimitReached']);
  });
});

describe('finishReason stops after a response with that finish reason', () => {
  const rows: readonly (readonly [
    FinishReason,
    reasons: readonly FinishReason[],
    calls: number,
    end: string,
  ])[] = [
    ['length', ['length'], 1, 'completed finishReasonReceived'],
    ['length', ['stop', 'length'], 1, 'completed finishReasonReceived'],
    ['content-filter', ['content-filter'], 1, 'completed finishReasonReceived'],
    ['tool-calls', ['tool-calls'], 1, 'completed finishReasonReceived'],
    ['stop', ['stop'], 1, 'completed finishReasonReceived'],
    ['other', ['other'], 1, 'completed finishReasonReceived'],
    ['length', ['content-filter'], 2, 'completed'],
    ['tool-calls', ['stop'], 2, 'completed finishReasonReceived'],
    ['tool-calls', [], 2, 'completed'],
  ];
  test.each(rows)('%s, for %j: %i calls', async (reason, reasons, calls, end) => {
    const content = [{ type: 'tool-call', toolCallId: '1', toolName: 'work', input: {} }] as const;
    const { state, driver } = await observe({
      script: [{ content, finishReason: reason, rawFinishReason: reason }, 'Done.'],
      tools: [does('work')],
      hooks: [finishReason(...reasons)],
    });
    expect(driver.requests).toHaveLength(calls);
    expect([state.status, state.stopReason].filter(Boolean).join(' ')).toBe(end);
  });

  test('the requested tools run, and the signal contains the reason', async () => {
    const { state } = await observe({
      script: [call('work')],
      tools: [does('work')],
      hooks: [finishReason('tool-calls', 'length')],
    });
    expect(state.steps[0]?.toolExecutions[0]?.value).toBe('work');
    expect(state.stopSignal).toEqual({
      reason: 'finishReasonReceived',
      message: 'The model stopped: tool-calls.',
      context: { finishReason: 'tool-calls', reasons: ['tool-calls', 'length'] },
      source: 'finishReason',
    });
  });
});

describe('retryLimit stops after more consecutive failed steps than the limit', () => {
  const outcomeOf = (type: ToolOutcomeType): ToolOutcome =>
    type === 'succeeded' ? { type, value: 1 } : { type, error: { name: 'Error', message: type } };
  /** Every call comes to the outcome that its arguments name. */
  const comesTo: Hook = {
    afterToolUse: (execution, { clock }) => ({
      toolExecution: execution.withOutcome(outcomeOf(execution.args as ToolOutcomeType), clock.now()),
    }),
  };
  /** A step is its outcomes, run together: `failed+succeeded`; `-` answers in words and goes on. */
  async function failing(steps: readonly string[], maxConsecutiveFailures: number): Promise<Observation> {
    const script = steps.map((step): ScriptedAnswer => {
      if (step === '-') return 'Hm.';
      return { calls: step.split('+').map((outcome) => ['work', outcome] as const) };
    });
    const goesOn: Hook = {
      afterStep: (state, { clock }) =>
        state.stepCount < steps.length ? state.withContinuationRequested(clock.now()) : undefined,
    };
    const hooks = [comesTo, ...(steps.includes('-') ? [goesOn] : [])];
    return observe({
      script: [...script, 'Done.'],
      tools: [does('work')],
      hooks,
      maxConsecutiveFailures,
    });
  }

  const types = Object.keys(OUTCOME_RULES) as ToolOutcomeType[];
  test.each(types)('the outcome %s counts as its rule determines', async (type) => {
    const { state } = await failing([type, type, type], 2);
    const counts = OUTCOME_RULES[type].countsAsFailure;
    expect(state.stopReason).toBe(counts ? 'retryLimitReached' : undefined);
    expect(state.status).toBe(counts ? 'stopped' : 'completed');
  });

  test('failed and blocked count; succeeded, denied and interrupted do not', () => {
    expect(types.filter((type) => OUTCOME_RULES[type].countsAsFailure)).toEqual(['failed', 'blocked']);
  });

  const rows: readonly (readonly [steps: readonly string[], limit: number, calls: number])[] = [
    [['failed'], 0, 1],
    [['succeeded', 'failed'], 0, 2],
    [['failed', 'failed'], 1, 2],
    [['failed', 'blocked', 'failed'], 2, 3],
    [['failed', 'failed', 'succeeded', 'failed', 'failed'], 2, 6],
    [['failed', 'succeeded', 'failed', 'failed'], 1, 4],
    [['failed+succeeded', 'failed+succeeded'], 0, 3],
    [['failed+blocked', 'blocked+failed'], 1, 2],
    [['failed+denied', 'failed+interrupted'], 0, 3],
    [['failed', '-', 'failed'], 1, 4],
    [['failed', 'failed'], 2, 3],
  ];
  test.each(rows)('%j, at most %i: %i calls', async (steps, limit, calls) => {
    const { state, driver } = await failing(steps, limit);
    expect(driver.requests).toHaveLength(calls);
    expect(state.status).toBe(calls > steps.length ? 'completed' : 'stopped');
  });

  test('the signal contains the number of failed steps', async () => {
    const { state } = await failing(['failed', 'failed', 'failed'], 1);
    expect(state.stopSignal).toEqual({
      reason: 'retryLimitReached',
      message: '2 consecutive steps have failed.',
      context: { limit: 1 },
      source: 'retryLimit',
    });
  });
});

describe('cancellation stops before a step when its function returns true', () => {
  const rows: readonly (readonly [string, (state: AgentState) => boolean | Promise<boolean>, number])[] = [
    ['at once', () => true, 0],
    ['later', ({ stepCount }) => stepCount === 2, 2],
    ['by a promise', async ({ stepCount }) => stepCount === 1, 1],
  ];
  test.each(rows)('%s', async (_, isCancelled, calls) => {
    const { state, driver } = await working({ hooks: [cancellation(isCancelled, 'The shop closes.')] });
    expect(driver.requests).toHaveLength(calls);
    expect([state.status, state.stopSignal]).toEqual([
      'stopped',
      { reason: 'userRequested', message: 'The shop closes.', source: 'cancellation' },
    ]);
  });

  test('never, when it returns false', async () => {
    const { state } = await working({ hooks: [cancellation(() => false)] }, nextStart(), 2);
    expect(state.status).toBe('completed');
  });

  test('an error of the function fails the run', async () => {
    const isCancelled = async (): Promise<boolean> => {
      throw new Error('database away');
    };
    const { state, driver } = await working({ hooks: [cancellation(isCancelled)] });
    expect([driver.requests.length, state.status, state.errors[0]?.code]).toEqual([
      0,
      'failed',
      'HOOK_FAILED',
    ]);
  });
});

describe('the step deadline of a hook', () => {
  const signal = { reason: 'stopRequested', message: 'The shop closes.', source: 'shop' } as const;

  test('applies without a guard before the step', async () => {
    const start = nextStart();
    const hooks: readonly Hook[] = [{ stepDeadline: () => ({ at: start + 15_000, signal }) }];
    const { state, driver } = await working({ hooks }, start);
    expect([driver.requests.length, state.stopSignal]).toEqual([2, signal]);
  });

  test('is not overridden by a hook that requests another step', async () => {
    const start = nextStart();
    const hook: Hook = {
      stepDeadline: () => ({ at: start + 15_000, signal }),
      afterStep: (state) => state.withContinuationRequested(0),
      beforeStep: (state) => state.withContinuationRequested(0),
    };
    const { state, driver } = await working({ hooks: [hook] }, start);
    expect([driver.requests.length, state.status]).toEqual([2, 'stopped']);
    expect(state.execution?.continuation.signals).toEqual([signal]);
  });

  const misfits: readonly (readonly [string, Hook['stepDeadline'] | (() => unknown)])[] = [
    [
      'an error',
      () => {
        throw new Error('no clock');
      },
    ],
    ['an invalid instant', () => ({ at: Number.NaN, signal })],
    ['no signal', () => ({ at: 0 })],
    ['an unknown reason', () => ({ at: 0, signal: { reason: 'boredom' } })],
    ['a string', () => 'soon'],
  ];
  test.each(misfits)('with %s fails the run', async (_, cutOff) => {
    const { state, driver } = await working({ hooks: [{ name: 'odd', stepDeadline: cutOff as never }] });
    expect([driver.requests.length, state.status, state.errors.map(({ code }) => code)]).toEqual([
      0,
      'failed',
      ['HOOK_FAILED'],
    ]);
    expect(state.errors[0]?.message).toContain('Hook "odd"');
  });

  test('with an AgentStop stops the run', async () => {
    const stepDeadline = (): never => {
      throw new AgentStop('enough');
    };
    const { state } = await working({ hooks: [{ stepDeadline }] });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'stopRequested']);
  });
});

describe('limits are checked again after a hook that used tokens', () => {
  const spends: Hook = {
    beforeStep: (state, { clock }) =>
      state.withOtherUsage(Usage.of({ inputTokens: 60, outputTokens: 0 }), clock.now()),
  };
  const late = (state: AgentState): string[] =>
    state.execution?.continuation.signals.map(({ source }) => source ?? '') ?? [];

  test.each<readonly [string, Hook]>([
    ['before a step', spends],
    [
      'asynchronously before a step',
      { beforeStep: async (state, context) => spends.beforeStep?.(state, context) },
    ],
    [
      'before an inference',
      {
        beforeInference: (_, { state, clock }) => ({
          state: state.withOtherUsage(Usage.of({ inputTokens: 60, outputTokens: 0 }), clock.now()),
        }),
      },
    ],
  ])('%s', async (_, hook) => {
    const { state, driver } = await observe({ hooks: [hook], budget: { maxTokens: 50 } });
    expect([driver.requests.length, late(state), state.status]).toEqual([0, ['tokenLimit'], 'stopped']);
  });

  test('before the next hook is called', async () => {
    const seen: (string | undefined)[] = [];
    const next: Hook = { beforeStep: ({ stopReason }) => void seen.push(stopReason) };
    await observe({ hooks: [spends, next], budget: { maxTokens: 50 } });
    expect(seen).toEqual(['tokenLimitReached']);
  });

  test('not after a hook that used none: once for each step', async () => {
    let asked = 0;
    const checkLimit = (): undefined => void asked++;
    const script = [{ calls: { a: {} } }, 'Done.'];
    const writes: Hook = { beforeStep: (state, { clock }) => state.withMetadata('a', 1, clock.now()) };
    await observe({ script, tools: [does('a')], hooks: [writes, { checkLimit }] });
    expect(asked).toBe(2);
  });

  test.each<readonly [string, unknown, status: string, message?: string]>([
    ['throws', () => throwIt(new Error('down')), 'failed', 'Hook "odd" failed in checkLimit: down'],
    ['throws an AgentStop', () => throwIt(new AgentStop('Enough.')), 'stopped'],
    [
      'returns an invalid signal',
      () => 'stop',
      'failed',
      expect.stringMatching(/^Hook "odd" failed in checkLimit: /),
    ],
  ])('with a guard that %s', async (_, checkLimit, status, message) => {
    const odd = { name: 'odd', checkLimit } as Hook;
    const { state, driver } = await observe({ hooks: [spends, odd] });
    expect([state.status, driver.requests.length, state.errors[0]?.message]).toEqual([status, 0, message]);
  });
});
