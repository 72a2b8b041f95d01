import { AgentState, createAgentLoop, tool, type Tool } from '@holdfast/core';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { call, deferred, does, nextStart, observe } from '../../support/builders.ts';
import { outcomesIn, resultsOf, tick, used } from '../../support/tool-runs.ts';

describe('a timeout', () => {
  const late = (seconds: number, more: Partial<Tool> = {}) => {
    const clock = manualClock(nextStart());
    const slow = does('slow', async () => {
      clock.advance(seconds * 1_000);
      await tick();
      return 'done';
    });
    return { clock, slow: { ...slow, timeoutSeconds: 10, ...more } };
  };

  test.each([
    [9.999, 'succeeded', 'done'],
    [10, 'failed', 'Tool "slow" exceeded its timeout of 10 seconds. It may still have had its effect.'],
    [60, 'failed', 'Tool "slow" exceeded its timeout of 10 seconds. It may still have had its effect.'],
  ])('after %d seconds of 10: %s', async (seconds, outcome, result) => {
    const { clock, slow } = late(seconds);
    const { state } = await used(slow, { clock });
    expect([outcomesIn(state), resultsOf(state), state.status]).toEqual([
      [`slow ${outcome}`],
      [result],
      'completed',
    ]);
    expect(state.errors.map(({ code }) => code)).toEqual(outcome === 'failed' ? ['TOOL_TIMEOUT'] : []);
  });

  test('applies to one tool; the other tools continue', async () => {
    const { clock, slow } = late(10);
    const { state } = await observe({
      clock,
      script: [call('a', 'slow', 'b'), 'Done.'],
      tools: [does('a'), slow, does('b', () => tick().then(() => 'b'))],
    });
    expect(outcomesIn(state)).toEqual(['a succeeded', 'slow failed', 'b succeeded']);
  });

  test('ends a run with toolErrors "fail"', async () => {
    const { clock, slow } = late(10);
    const { state } = await used(slow, { clock, script: [call('slow')], toolErrors: 'fail' });
    expect([state.status, state.stopReason]).toEqual(['failed', 'errorForbade']);
  });

  test('ignores the later result of the tool', async () => {
    const clock = manualClock(nextStart());
    const { promise, resolve } = deferred<string>();
    const slow = does('slow', () => (clock.advance(10_000), promise));
    const { state } = await used({ ...slow, timeoutSeconds: 10 }, { clock });
    const before = JSON.stringify(state);
    resolve('late');
    await tick();
    expect(JSON.stringify(state)).toBe(before);
    expect(outcomesIn(state)).toEqual(['slow failed']);
  });

  test.each([0, -1, Number.NaN])('of %d seconds is refused', (timeoutSeconds) => {
    const init = { name: 'a', description: 'a', inputSchema: {}, execute: () => 1, timeoutSeconds };
    expect(() => tool(init)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});

test('an abort ends a call whose model output does not arrive', async () => {
  const clock = manualClock(1_000);
  const controller = new AbortController();
  const begun = Promise.withResolvers<void>();
  const slow = tool({
    name: 'slow',
    description: '',
    inputSchema: z.object({}),
    execute: () => 'done',
    toModelOutput: () => (begun.resolve(), new Promise<never>(() => undefined)),
  });
  const driver = scriptedDriver({ calls: { slow: {} } }, 'Done.');
  const pending = createAgentLoop({ driver, tools: [slow], clock }).run(
    AgentState.empty().withUserMessage('Hi.'),
    { signal: controller.signal },
  );
  await begun.promise;
  controller.abort();
  clock.advance(5_000);
  const state = await pending;
  expect(state.status).toBe('stopped');
  expect(state.steps[0]?.toolExecutions[0]?.outcome?.type).toBe('interrupted');
});
