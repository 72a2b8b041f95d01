import {
  AgentStop,
  cancellation,
  createAgentLoop,
  finishReason,
  stepsLimit,
  tokenLimit,
  Usage,
  type AgentState,
  type Hook,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does, observe } from '../../support/builders.ts';

const signalsOf = ({ execution }: AgentState) =>
  (execution?.continuation.signals ?? []).map(({ source }) => source);

describe('the name of a hook', () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['empty', ''],
    ['a number', 2],
    ['null', null],
    ['a function', () => 'a'],
  ];
  test.each(wrong)('must not be %s', (_, name) => {
    const hooks = [{ beforeStep: () => undefined }, { name, beforeStep: () => undefined } as Hook];
    expect(() => createAgentLoop({ driver: scriptedDriver(), hooks })).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        code: 'ARGUMENT_INVALID',
        message: expect.stringMatching(/^The name of hook 2 must be a string that is not empty, found /),
      }),
    );
  });

  test('may be a member of a class', async () => {
    class Policy implements Hook {
      readonly #reason = 'Closed.';
      get name(): string {
        return 'policy';
      }
      beforeToolUse() {
        return { block: this.#reason };
      }
    }
    const script = [{ calls: { a: {} } }, 'Done.'];
    const { state } = await observe({ script, tools: [does('a')], hooks: [new Policy()] });
    expect(state.lastToolExecution?.blockedBy).toEqual([{ hook: 'policy', reason: 'Closed.' }]);
  });

  test.each<readonly [string, Hook, title: string]>([
    ['a name', { name: 'odd', beforeStep: () => 5 as never }, 'Hook "odd"'],
    ['no name', { beforeStep: () => 5 as never }, 'Hook 2'],
  ])('appears in errors: %s', async (_, hook, title) => {
    // `observe` registers a hook of its own before these.
    const { state } = await observe({ hooks: [hook] });
    expect(state.errors[0]?.message).toBe(
      `${title} returned number 5 as the state from beforeStep; it may return a state or undefined.`,
    );
  });
});

describe('a hook with only checkLimit', () => {
  const work = { calls: { work: {} } } as const;
  const signal = { reason: 'stopRequested', message: 'The shop closes.', source: 'shop' } as const;
  const closes = (afterSteps: number): Hook => ({
    checkLimit: ({ stepCount }) => (stepCount >= afterSteps ? signal : undefined),
  });

  test.each([0, 1, 2])('stops before a step: after %i', async (steps) => {
    const script = Array.from({ length: steps }, () => work);
    const { state, driver } = await observe({ script, tools: [does('work')], hooks: [closes(steps)] });
    expect([driver.requests.length, state.status, state.stopSignal]).toEqual([steps, 'stopped', signal]);
  });

  test('may be asynchronous', async () => {
    const checkLimit: Hook['checkLimit'] = async (state, context) => closes(1).checkLimit?.(state, context);
    const { state, driver } = await observe({
      script: [work],
      tools: [does('work')],
      hooks: [{ checkLimit }],
    });
    expect([driver.requests.length, state.stopSignal]).toEqual([1, signal]);
  });

  test('is called once, before all other hooks of the step, whatever their priority', async () => {
    const order: string[] = [];
    const checkLimit = () => void order.push('limit');
    const first: Hook = { priority: 5_000, beforeStep: () => void order.push('beforeStep') };
    await observe({ script: [work, 'Done.'], tools: [does('work')], hooks: [first, { checkLimit }] });
    expect(order).toEqual(['limit', 'beforeStep', 'limit', 'beforeStep']);
  });

  test('is not overridden by a request for another step', async () => {
    const asks = (state: AgentState): AgentState => state.withContinuationRequested(0);
    const insistent: Hook = { priority: 5_000, beforeStep: asks, afterStep: asks };
    const { state, driver } = await observe({
      script: [work],
      tools: [does('work')],
      hooks: [insistent, closes(1)],
    });
    expect([driver.requests.length, state.status]).toEqual([1, 'stopped']);
  });

  test('is not overridden by a request after its signal either', async () => {
    // The limit is used up before an inference: the step ends without one, and other hooks want another step.
    const spends: Hook = {
      beforeInference: (_, { state, clock }) => ({
        state: state.withOtherUsage(Usage.of({ inputTokens: 60, outputTokens: 0 }), clock.now()),
      }),
    };
    const asks = (state: AgentState): AgentState => state.withContinuationRequested(0);
    const insistent: Hook = { beforeStep: asks, afterStep: asks };
    const hooks = [spends, insistent, tokenLimit(50)];
    const { state, driver } = await observe({ hooks, script: ['Not asked for.'] });
    expect([driver.requests.length, state.status, signalsOf(state)]).toEqual([0, 'stopped', ['tokenLimit']]);
  });
});

describe('guards after one that stopped the step are not called', () => {
  test('cancellation() does not call its function', async () => {
    let asked = 0;
    const hooks = [cancellation(() => ++asked > 0), stepsLimit(0)].toReversed();
    const { state } = await observe({ hooks });
    expect([asked, signalsOf(state)]).toEqual([0, ['stepsLimit']]);
  });

  test('after a limit of the loop', async () => {
    let asked = 0;
    const { state } = await observe({ budget: { maxSteps: 0 }, hooks: [cancellation(() => ++asked > 0)] });
    expect([asked, signalsOf(state)]).toEqual([0, ['stepsLimit']]);
  });

  test('after a final response', async () => {
    const hooks = [finishReason('stop'), finishReason('stop', 'length')];
    const { state } = await observe({ script: ['Hi.'], hooks });
    expect(state.execution?.continuation.signals.map(({ context }) => context)).toEqual([
      { finishReason: 'stop', reasons: ['stop'] },
    ]);
  });

  test('after tools that stopped the step', async () => {
    const stops = does('a', () => {
      throw new AgentStop({ reason: 'userRequested', source: 'tool' });
    });
    const hooks = [finishReason('tool-calls')];
    const { state } = await observe({ script: [{ calls: { a: {} } }], tools: [stops], hooks });
    expect([signalsOf(state), state.status]).toEqual([['tool'], 'stopped']);
  });

  test('between the calls of a step', async () => {
    const spends: Hook = {
      beforeStep: (state, { clock }) =>
        state.withOtherUsage(Usage.of({ inputTokens: 60, outputTokens: 0 }), clock.now()),
    };
    const asked: number[] = [];
    const counts: Hook = { checkLimit: ({ usage }) => void asked.push(usage.totalTokens) };
    await observe({ hooks: [spends, tokenLimit(50), counts] });
    expect(asked).toEqual([0]);
  });

  test('after a hook that stopped the step, and in a cancelled run', async () => {
    const spent = (state: AgentState): AgentState =>
      state.withOtherUsage(Usage.of({ inputTokens: 60, outputTokens: 0 }), 0);
    const stops: Hook = {
      beforeStep: (state) =>
        spent(state).withStopSignal({ reason: 'stopRequested', message: 'Enough.', source: 'stops' }, 0),
    };
    const controller = new AbortController();
    const aborts: Hook = { beforeInference: (_, { state }) => (controller.abort(), { state: spent(state) }) };
    const stopped = await observe({ hooks: [stops, tokenLimit(50)] });
    const run = { signal: controller.signal };
    const cancelled = await observe({ hooks: [aborts, tokenLimit(50)], run });
    expect([signalsOf(stopped.state), signalsOf(cancelled.state)]).toEqual([['stops'], ['abort']]);
  });
});
