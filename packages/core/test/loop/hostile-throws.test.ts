import { AgentBuilder, ExecutionBudget, HoldfastError, tool, toolResult } from '@holdfast/core';
import type { Hook, Tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred, does, driverOf, expectSound, observe, scriptedLoop, told } from '../builders.ts';

const call = (...names: string[]): ScriptedAnswer => ({ calls: names.map((name) => [name, {}] as const) });

/** What nobody should throw. */
const thrown: Readonly<Record<string, () => unknown>> = {
  'a code of a stop without a signal': () => new HoldfastError('AGENT_STOP', 'stop'),
  'a stop for no reason that there is': () =>
    Object.assign(new Error('x'), { code: 'AGENT_STOP', signal: { reason: 'bored' } }),
  'an error whose members throw': () =>
    Object.defineProperty(new Error('x'), 'name', {
      get: () => {
        throw new Error('no');
      },
    }),
  'a proxy that is gone': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'an object of nothing': () => Object.create(null),
};
const throws = (make: () => unknown): never => {
  throw make();
};

describe.each(Object.entries(thrown))('%s', (_, make) => {
  test('from a tool is an error that the model reads', async () => {
    const { state } = await observe({
      script: [call('bad'), 'Sorry.'],
      tools: [does('bad', () => throws(make))],
    });
    expectSound(state);
    expect([state.status, state.errors.length]).toEqual(['completed', 1]);
  });

  test.each(['beforeStep', 'afterInference', 'beforeToolUse', 'onError'] as const)(
    'from %s ends the run as failed',
    async (point) => {
      const hook: Hook = { [point]: () => throws(make) };
      const script = point === 'onError' ? [new Error('down')] : [call('a'), 'Done.'];
      const { state } = await observe({ script, tools: [does('a')], hooks: [hook] });
      expectSound(state);
      expect(state.status).toBe('failed');
    },
  );

  test('from a driver, or a compiler, too', async () => {
    const driver = driverOf(async () => throws(make));
    expect((await scriptedLoop([], { driver }).run(told())).status).toBe('failed');
    expect((await scriptedLoop([], { compiler: () => throws(make) }).run(told())).status).toBe('failed');
  });
});

test.each(['beforeToolUse', 'afterToolUse'] as const)(
  'what a tool uses while an async %s thinks is not forgotten',
  async (point) => {
    const [used, thought] = [deferred(), deferred()];
    const pay: Tool = tool({
      name: 'pay',
      description: '',
      inputSchema: { type: 'object' },
      execute: async (_, context) => {
        await thought.promise;
        context.addUsage({ inputTokens: 1_000_000, outputTokens: 0 });
        context.saveProgress('half');
        used.resolve();
        return toolResult({ value: 1 });
      },
    });
    let isFirst = true;
    const hook: Hook = {
      [point]: async (
        one: { readonly toolName?: string; readonly name?: string },
        { state }: { readonly state: never },
      ) => {
        if ((one.toolName ?? one.name) === 'pay' || !isFirst) return undefined;
        isFirst = false;
        thought.resolve();
        await used.promise;
        return { state: (state as ReturnType<typeof told>).withMetadata('seen', true) };
      },
    };
    const { state } = await observe({
      script: [call('pay', 'quick'), 'Done.'],
      tools: [pay, does('quick')],
      hooks: [hook],
    });
    expect([state.status, state.metadata.get('seen')]).toEqual(['completed', true]);
    expect(state.usage.inputTokens).toBeGreaterThan(1_000_000);
  },
);

test.each([
  new HoldfastError('RUN_ABORTED', 'gone'),
  Object.assign(new Error(), { code: 'RUN_ABORTED', kind: 'x' }),
])('an abort of no kind that there is cancels', async (reason) => {
  const controller = new AbortController();
  const driver = driverOf(async () => {
    controller.abort(reason);
    throw reason;
  });
  const state = await scriptedLoop([], { driver }).run(told(), { signal: controller.signal });
  expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
});

test('arguments that are never checked end with the run', async () => {
  const controller = new AbortController();
  const never: Tool = {
    ...does('never'),
    validate: () => {
      controller.abort();
      return new Promise(() => undefined);
    },
  };
  const loop = scriptedLoop([call('never')], { tools: [never] });
  const state = await loop.run(told(), { signal: controller.signal });
  expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
});

test('a builder takes a whole budget as it is', async () => {
  const driver = scriptedDriver(...Array.from({ length: 25 }, () => call('a')), 'Done.');
  const budget = ExecutionBudget.unlimited();
  const state = await AgentBuilder.of({ driver, tools: [does('a')], budget })
    .toLoop()
    .run(told());
  expect([state.status, state.stepCount]).toEqual(['completed', 26]);
});

test('the message of an error is cut as a value is', async () => {
  const { state } = await observe({
    script: [call('fails'), 'Done.'],
    tools: [does('fails', () => throws(() => new Error('x'.repeat(1_000))))],
    maxToolResultLength: 100,
  });
  const [error] = state.errors;
  expect(error?.message).toMatch(/^x{100}\n\[Cut: the first 100 of 1000 characters are shown\.\]$/);
});
