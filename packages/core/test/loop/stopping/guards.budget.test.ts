import {
  AgentState,
  createAgentLoop,
  RunAbort,
  tool,
  type BudgetLimits,
  type Hook,
  type Instant,
} from '@holdfast/core';
import { manualClock, type ManualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import {
  call,
  cameTo,
  does,
  driverOf,
  expectSound,
  HOUR,
  nextStart,
  observe,
  told,
} from '../../support/builders.ts';

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

describe('a budget counts over crashes and waiting, and is exceeded at most by the call in flight', () => {
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

    test('a budget gives the same result in every way', async () => {
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

  test('for any limits, calls and interruptions', async () => {
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

describe('the remaining budget that a tool reads', () => {
  test('subtracts everything that was used until now', async () => {
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

  test('contains the default step limit when no budget is set', async () => {
    const left: unknown[] = [];
    const looks = does('looks', (_, context) => void left.push(context.remaining().toJSON()));
    await observe({ script: [call('looks'), 'Hi.'], tools: [looks] });
    await observe({ script: [call('looks'), 'Hi.'], tools: [looks], budget: { maxSteps: Infinity } });
    expect(left).toEqual([{ maxSteps: 19 }, { maxSteps: Number.MAX_SAFE_INTEGER }]);
  });
});
