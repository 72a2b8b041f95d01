import {
  AgentBuilder,
  ExecutionBudget,
  HoldfastError,
  tool,
  toolResult,
  type Clock,
  type Hook,
  type Tool,
} from '@holdfast/core';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  deferred,
  does,
  driverOf,
  expectSound,
  observe,
  scriptedLoop,
  told,
} from '../../support/builders.ts';

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
  'an object without a prototype': () => Object.create(null),
};
const throws = (make: () => unknown): never => {
  throw make();
};

describe.each(Object.entries(thrown))('%s', (_, make) => {
  test('thrown by a tool is an error that the model reads', async () => {
    const { state } = await observe({
      script: [call('bad'), 'Sorry.'],
      tools: [does('bad', () => throws(make))],
    });
    expectSound(state);
    expect([state.status, state.errors.length]).toEqual(['completed', 1]);
  });

  test.each(['beforeStep', 'afterInference', 'beforeToolUse', 'onError'] as const)(
    'thrown by %s ends the run failed',
    async (point) => {
      const hook: Hook = { [point]: () => throws(make) };
      const script = point === 'onError' ? [new Error('down')] : [call('a'), 'Done.'];
      const { state } = await observe({ script, tools: [does('a')], hooks: [hook] });
      expectSound(state);
      expect(state.status).toBe('failed');
    },
  );

  test('thrown by a driver or a compiler ends the run failed', async () => {
    const driver = driverOf(async () => throws(make));
    expect((await scriptedLoop([], { driver }).run(told())).status).toBe('failed');
    expect((await scriptedLoop([], { compiler: () => throws(make) }).run(told())).status).toBe('failed');
  });
});

test.each(['beforeToolUse', 'afterToolUse'] as const)(
  'the usage that a tool reports during an async %s is counted',
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
])('an abort of an unknown kind cancels', async (reason) => {
  const controller = new AbortController();
  const driver = driverOf(async () => {
    controller.abort(reason);
    throw reason;
  });
  const state = await scriptedLoop([], { driver }).run(told(), { signal: controller.signal });
  expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
});

test('a check of arguments that never settles ends with the run', async () => {
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

test('a builder accepts a whole budget unchanged', async () => {
  const driver = scriptedDriver(...Array.from({ length: 25 }, () => call('a')), 'Done.');
  const budget = ExecutionBudget.unlimited();
  const state = await AgentBuilder.of({ driver, tools: [does('a')], budget })
    .toLoop()
    .run(told());
  expect([state.status, state.stepCount]).toEqual(['completed', 26]);
});

test('the message of an error is truncated as a value is', async () => {
  const { state } = await observe({
    script: [call('fails'), 'Done.'],
    tools: [does('fails', () => throws(() => new Error('x'.repeat(1_000))))],
    maxToolResultLength: 100,
  });
  const [error] = state.errors;
  expect(error?.message).toMatch(/^x{100}\n\[Truncated: the first 100 of 1000 characters are shown\.\]$/);
});

describe('pauses before another attempt', () => {
  const flaky = (retry: object): Tool => {
    let tries = 0;
    return tool({
      name: 'flaky',
      description: '',
      inputSchema: { type: 'object' },
      retry: { maxAttempts: 3, ...retry },
      execute: () => (++tries > 1 ? tries : throws(() => new Error('The line is down.'))),
    });
  };
  const no = (): never => throws(() => new Error('no'));

  test.each([
    {
      problem: 'delaySeconds must return a number of seconds, found number NaN',
      retry: { delaySeconds: () => NaN },
    },
    {
      problem: 'delaySeconds must return a number of seconds, found number -1',
      retry: { delaySeconds: () => -1 },
    },
    {
      problem: 'delaySeconds must return a number of seconds, found number Infinity',
      retry: { delaySeconds: () => Infinity },
    },
    {
      problem: 'delaySeconds must return a number of seconds, found string "1"',
      retry: { delaySeconds: () => '1' },
    },
    {
      problem: 'delaySeconds must return a number of seconds, found an object',
      retry: { delaySeconds: async () => 1 },
    },
    { problem: 'failed: no', retry: { delaySeconds: no } },
    { problem: 'failed: no', retry: { isRetryable: no } },
  ])('$problem: the model reads this and the error of the call', async ({ problem, retry }) => {
    const { state } = await observe({ script: [call('flaky'), 'Sorry.'], tools: [flaky(retry)] });
    expect(state.status).toBe('completed');
    const cause = { message: 'The line is down.' };
    expect(state.errors).toMatchObject([{ code: 'ARGUMENT_INVALID', cause }]);
    expect(state.errors[0]?.message).toMatch(/^The line is down\. There was no retry/);
    expect(state.errors[0]?.message).toContain(problem);
  });

  test.each([NaN, -1, Infinity, '1'])('of %s seconds are refused with the tool', (delay) => {
    expect(() => flaky({ delaySeconds: delay })).toThrow(
      /^delaySeconds of the retry of tool "flaky" must be/,
    );
  });

  test('of a clock that calls back at once end at once', async () => {
    const clock: Clock = { ...steppedClock(5_000), after: (_, callback) => (callback(), () => undefined) };
    const { state } = await observe({
      script: [call('flaky'), 'Done.'],
      tools: [flaky({ delaySeconds: 1 })],
      clock,
    });
    expect([state.status, state.lastToolExecution?.value]).toEqual(['completed', 2]);
  });
});
