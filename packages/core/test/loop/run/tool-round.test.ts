import {
  AgentStop,
  createAgentLoop,
  pendingApprovals,
  tool,
  ToolExecution,
  toolResult,
  type Hook,
} from '@holdfast/core';
import { withDecision } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { call, does, expectSound, observe, told } from '../../support/builders.ts';
import { outcomesIn, resultsOf, tick } from '../../support/tool-runs.ts';

test('a hook cannot take the outcome of an approved call away, which would start it again', async () => {
  let starts = 0;
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => {
      if (++starts > 2) throw new AgentStop('It is paid for ever.');
    },
  });
  const forgets: Hook = {
    afterToolUse: ({ id, call: paid }) => ({
      toolExecution: ToolExecution.create(paid, id)
        .withApprovalRequested(1)
        .withDecision({ type: 'approved', at: 2 }),
    }),
  };
  const loop = createAgentLoop({
    driver: scriptedDriver(call('pay'), 'Done.'),
    tools: [pay],
    hooks: [forgets],
  });
  const waiting = await loop.run(told());
  const [asked] = pendingApprovals(waiting);
  const decision = { toolExecutionId: asked?.id ?? '', decision: 'approved' } as const;
  const state = await loop.run(await withDecision(waiting, decision, loop.tools, waiting.updatedAt));
  expect([starts, state.status, state.errors.map(({ code }) => code)]).toEqual([
    1,
    'failed',
    ['HOOK_FAILED'],
  ]);
});

test('an error before the first attempt of a call becomes its outcome, and the run continues', async () => {
  let isArmed = false;
  const odd = {
    ...does('odd', () => 'done'),
    get isResumable() {
      const isUnreadable = isArmed;
      isArmed = false;
      if (isUnreadable) throw new TypeError('unreadable');
      return false;
    },
  };
  const arms: Hook = { beforeToolUse: () => void (isArmed = true) };
  const loop = createAgentLoop({ driver: scriptedDriver(call('odd'), 'Done.'), tools: [odd], hooks: [arms] });
  const state = expectSound(await loop.run(told()));
  expect([state.status, outcomesIn(state)]).toEqual(['completed', ['odd failed']]);
  expect(resultsOf(state)).toEqual(['unreadable']);
});

describe('tools of one step run in parallel', () => {
  /** Runs tools that take so many ticks each. */
  async function inParallel(durations: readonly number[], maxParallelTools: number) {
    const [begun, ended]: [number[], number[]] = [[], []];
    let [running, most] = [0, 0];
    const tools = durations.map((duration, index) =>
      does(`t${index}`, async () => {
        begun.push(index);
        most = Math.max(most, ++running);
        for (let passed = 0; passed < duration; passed++) await tick();
        running--;
        ended.push(index);
        return toolResult({ value: index, metadata: { [`t${index}`]: true, last: index } });
      }),
    );
    const driver = scriptedDriver(call(...tools.map(({ name }) => name)), 'Done.');
    const state = await createAgentLoop({ driver, tools, maxParallelTools }).run(told());
    return { state: expectSound(state), begun, ended, most };
  }

  const durations = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 10 });
  const limit = fc.constantFrom(1, 2, 3, 8, Infinity);
  test('up to maxParallelTools, in the order of the calls; results stay in that order', async () => {
    await fc.assert(
      fc.asyncProperty(durations, limit, async (times, maxParallelTools) => {
        const { state, begun, ended, most } = await inParallel(times, maxParallelTools);
        const order = times.map((_, index) => index);
        expect(most).toBe(Math.min(times.length, maxParallelTools));
        expect(begun).toEqual(order);
        expect(ended.toSorted((left, right) => left - right)).toEqual(order);
        expect(resultsOf(state)).toEqual(order);
        expect(state.steps[0]?.executedToolCalls.map(({ toolName }) => toolName)).toEqual(
          order.map((index) => `t${index}`),
        );
        expect(Object.keys(state.metadata.values)).toEqual(
          order.flatMap((index) => (index === 0 ? ['t0', 'last'] : [`t${index}`])),
        );
        expect(state.metadata.get('last')).toBe(times.length - 1);
      }),
      cases(60),
    );
  });

  test('8 at a time by default', async () => {
    let [running, most] = [0, 0];
    const busy = does('busy', async () => {
      most = Math.max(most, ++running);
      await tick();
      running--;
    });
    await observe({ script: [call(...Array.from({ length: 20 }, () => 'busy')), 'Done.'], tools: [busy] });
    expect(most).toBe(8);
  });
});
