import { AgentStop, createAgentLoop, type Clock } from '@holdfast/core';
import { manualClock, scriptedDriver, type ManualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, does, HOUR, never, nextStart, observe, told, type Scenario } from '../../support/builders.ts';
import { outcomesIn } from '../../support/tool-runs.ts';
import { answers, timeLimits, watchedClock, type Late } from '../../support/late-runs.ts';
const tools = [does('a'), does('b')];

describe('a timer that is late because code blocks it', () => {
  /** Timers never go off: whoever wants to begin something has to look at the clock. */
  const starved = (clock: ManualClock): Clock => ({ ...clock, after: () => () => undefined });
  const rows: readonly (readonly [string, Late, calls: number, outcomes: readonly string[]])[] = [
    ['a hook before the step', (late) => ({ hooks: [{ beforeStep: late }] }), 0, []],
    ['a hook before inference', (late) => ({ hooks: [{ beforeInference: late }] }), 0, []],
    ['the inference', (late) => ({ script: [answers(late, call('a'))], tools }), 1, []],
    [
      'the first of two tools',
      (late) => ({ script: [call('c', 'a')], tools: [does('c', late), ...tools], maxParallelTools: 1 }),
      1,
      ['c succeeded'],
    ],
  ];
  const table = rows.flatMap((row) =>
    timeLimits.map(([limit, budget]) => [row[0], limit, row, budget] as const),
  );
  test.each(table)('in %s, by %s', async (_, __, [, scenario, calls, expected], budget) => {
    const start = nextStart();
    const clock = manualClock(start);
    const made = scenario(() => clock.advance(10_000));
    const { state, driver } = await observe({ clock: starved(clock), budget: budget(start), ...made });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'timeLimitReached']);
    expect([driver.requests.length, outcomesIn(state)]).toEqual([calls, expected]);
  });
});

describe('step timers', () => {
  const boom = (): never => {
    throw new Error('boom');
  };
  const stop = (): never => {
    throw new AgentStop('enough');
  };
  const rows: readonly (readonly [string, Scenario, steps: number])[] = [
    ['answers', { script: [call('a'), call('b'), 'Hi.'], tools }, 3],
    [
      'tools with time of their own',
      { script: [call('a'), 'Hi.'], tools: [{ ...does('a'), timeoutSeconds: 5 }] },
      2,
    ],
    ['a driver that fails', { script: [new Error('down')] }, 1],
    ['a hook that fails', { script: ['Hi.'], hooks: [{ beforeInference: boom }] }, 1],
    ['a hook that stops', { script: ['Hi.'], hooks: [{ beforeStep: stop }] }, 0],
    ['a tool that stops', { script: [call('a')], tools: [does('a', stop)] }, 1],
    [
      'a suspension',
      {
        script: [call('a')],
        tools,
        hooks: [{ afterInference: (_, { state }) => ({ state: state.withExecutionStatus('suspended') }) }],
      },
      0,
    ],
  ];
  test.each(rows)(
    'are cancelled at the end of each step: %s',
    async (_, { script = [], ...options }, steps) => {
      const clock = watchedClock(nextStart());
      const pending: number[] = [];
      const loop = createAgentLoop({
        driver: scriptedDriver(...script),
        ...options,
        clock,
        budget: { maxSeconds: 60, deadline: clock.now() + HOUR },
      });
      let last = told();
      for await (const state of loop.iterate(last)) {
        pending.push(clock.pending);
        last = state;
      }
      expect(last.steps).toHaveLength(steps);
      expect(pending).toEqual(pending.map(() => 0));
      expect(clock.set).toBeGreaterThan(0);
    },
  );

  test('of a manual clock fire in order, each at its instant, including those that they set', () => {
    const clock = manualClock(1_000);
    const seen: string[] = [];
    const note = (name: string) => (): void => void seen.push(`${name} ${clock.now()}`);
    clock.after(20, note('b'));
    clock.after(10, () => {
      note('a')();
      clock.after(5, note('set by a'));
      clock.after(500, note('far'));
    });
    const callOff = clock.after(12, note('called off'));
    clock.after(0, note('at once'));
    callOff();
    clock.advance(100);
    expect([seen, clock.now()]).toEqual([['at once 1000', 'a 1010', 'set by a 1015', 'b 1020'], 1_100]);
  });

  test('are not set without a time limit', async () => {
    const clock = watchedClock(nextStart());
    await observe({ clock, script: [call('a'), 'Hi.'], tools });
    expect(clock.set).toBe(0);
  });

  test('do not fire early for a deadline beyond the range of timers', async () => {
    const DAY = 24 * HOUR;
    const clock = watchedClock(nextStart());
    const budget = { deadline: clock.now() + 60 * DAY };
    const seen: boolean[] = [];
    const patient = does('patient', (_, { signal }) => {
      for (const days of [25, 25, 9, 1]) {
        clock.advance(days * DAY);
        seen.push(signal.aborted);
      }
      return never;
    });
    const { state } = await observe({ clock, budget, script: [call('patient')], tools: [patient] });
    expect([state.stopReason, outcomesIn(state), clock.pending]).toEqual([
      'timeLimitReached',
      ['patient interrupted'],
      0,
    ]);
    expect(seen).toEqual([false, false, false, true]);
  });
});
