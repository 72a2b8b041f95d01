import { RunAbort, type BudgetLimits, type Instant } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { call, does, never, nextStart, observe } from '../../support/builders.ts';
import { rejects } from '../../support/cut-off.ts';
import { outcomesIn } from '../../support/tool-runs.ts';
import { outOfTime, watchedClock } from '../../support/late-runs.ts';

describe('step deadlines together with aborts', () => {
  test('a run that yields lets its tools complete before the deadline', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', async (_, { signal }) => {
      controller.abort(new RunAbort('yield'));
      await new Promise(setImmediate);
      return signal.aborted ? 'aborted' : 'done';
    });
    const run = { signal: controller.signal };
    const { state } = await observe({
      clock,
      budget: { maxSeconds: 10 },
      script: [call('slow')],
      tools: [slow],
      run,
    });
    expect([state.status, state.lastStep?.toolExecutions[0]?.value]).toEqual(['inProgress', 'done']);
    expect([state.stopSignal, clock.pending]).toEqual([undefined, 0]);
  });

  test('a run that yields still aborts its tools at the deadline', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', async () => {
      controller.abort(new RunAbort('yield'));
      await new Promise(setImmediate);
      clock.advance(10_000);
      return never;
    });
    const made = { clock, budget: { maxSeconds: 10 }, tools: [slow], run: { signal: controller.signal } };
    const { state } = await observe({ ...made, script: [call('slow')] });
    expect([state.stopReason, outcomesIn(state)]).toEqual(['timeLimitReached', ['slow interrupted']]);
    expect(state.execution?.continuation.signals).toHaveLength(1);
  });

  test('a cancel before the deadline is the stop reason', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', () => {
      controller.abort();
      clock.advance(10_000);
      return never;
    });
    const made = { clock, budget: { maxSeconds: 10 }, tools: [slow], run: { signal: controller.signal } };
    const { state } = await observe({ ...made, script: [call('slow')] });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
    expect(state.execution?.continuation.signals).toHaveLength(1);
  });

  test('a loss before the deadline: nothing changes', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', () => {
      controller.abort(new RunAbort('lost'));
      clock.advance(10_000);
      return never;
    });
    const run = { signal: controller.signal };
    const { state } = await observe({
      clock,
      budget: { maxSeconds: 10 },
      script: [call('slow')],
      tools: [slow],
      run,
    });
    expect([state.status, state.stopSignal, clock.pending]).toEqual(['inProgress', undefined, 0]);
    expect(state.currentStep?.toolExecutions[0]?.isRunning).toBe(true);
  });

  const pairs: readonly (readonly [string, (start: Instant) => BudgetLimits, string])[] = [
    ['the time limit', (start) => ({ maxSeconds: 5, deadline: start + 8_000 }), 'timeLimit'],
    ['the deadline', (start) => ({ maxSeconds: 8, deadline: start + 5_000 }), 'deadline'],
  ];
  test.each(pairs)('the earlier of two limits applies: %s', async (_, limit, source) => {
    const { state } = await outOfTime((late) => ({ script: [rejects(late)] }), limit);
    expect(state.execution?.continuation.signals.map((signal) => signal.source)).toEqual([source]);
  });

  test('a hook’s signal aborts at the deadline', async () => {
    const seen: boolean[] = [];
    const { state } = await outOfTime(
      (late) => ({
        hooks: [
          {
            beforeStep: (_, { signal }) => {
              late();
              seen.push(signal.aborted);
            },
          },
        ],
      }),
      () => ({ maxSeconds: 10 }),
    );
    expect([seen, state.stopReason]).toEqual([[true], 'timeLimitReached']);
  });
});
