import { createAgentLoop, subagent, tool, type AgentState } from '@holdfast/core';
import type { Checkpoint } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred, does, expectSound, told } from '../../support/builders.ts';
import { call, settled } from '../../support/durable-world.ts';

describe('a checkpoint', () => {
  test.each(['once', 'readOnly'] as const)('that rejects lets no tool start (%s)', async (effect) => {
    const calls: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      effect,
      execute: () => (calls.push('pay'), 'paid'),
    });
    const loop = createAgentLoop({ driver: scriptedDriver(call(1), 'Done.'), tools: [pay] });
    const points: string[] = [];
    const checkpoint: Checkpoint = {
      save: (_, point) => (points.push(point), Promise.reject(new Error('disk full'))),
    };
    await expect(loop.run(told(), { checkpoint })).rejects.toThrow('disk full');
    expect([calls, points]).toEqual([[], [effect === 'once' ? 'intent' : 'inference']]);
  });

  test('that rejects aborts the running tools', async () => {
    const reached = deferred();
    const failing = deferred();
    const slow = tool({
      name: 'slow',
      description: 'Slow.',
      inputSchema: { type: 'object' },
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          reached.resolve();
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    const quick = does('quick', () => reached.promise);
    const driver = scriptedDriver({ calls: { slow: {}, quick: {} } });
    const loop = createAgentLoop({ driver, tools: [slow, quick] });
    const checkpoint: Checkpoint = {
      save: (state, point) =>
        point === 'outcome' ? failing.promise.then(() => state) : Promise.resolve(state),
    };
    const running = loop.run(told(), { checkpoint });
    await settled();
    failing.reject(new Error('disk full'));
    await expect(running).rejects.toThrow('disk full');
  });

  test('saves the intent of a subagent before the call, even during a save that changes the state', async () => {
    const [childMayAsk, secondSave] = [deferred(), deferred()];
    const saved: AgentState[] = [];
    let keptAtCall: string | undefined;
    const pay = does('pay', () => {
      keptAtCall = JSON.stringify(saved.at(-1)?.currentStep?.executionOf('call_1_2')?.progress);
    });
    const child = createAgentLoop({
      driver: scriptedDriver(() => childMayAsk.promise.then(() => call(1)), 'Paid.'),
      tools: [pay],
    });
    const find = subagent({ name: 'find', description: 'Finds.', loop: child });
    const loop = createAgentLoop({
      driver: scriptedDriver({ calls: { quick: {}, find: { prompt: 'Go' } } }, 'Done.'),
      tools: [does('quick'), find],
    });
    const checkpoint: Checkpoint = {
      save: async (state, point) => {
        saved.push(state);
        if (point === 'outcome') await secondSave.promise;
        return state.withMetadata('saves', saved.length);
      },
    };
    const running = loop.run(told(), { checkpoint });
    await settled();
    childMayAsk.resolve();
    await settled();
    expect(keptAtCall).toBeUndefined();
    secondSave.resolve();
    expect((await running).finalResponse).toBe('Done.');
    expect(keptAtCall).toContain('"toolName":"pay"');
    for (const state of saved) expectSound(state);
  });
});
