import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { AgentState, AgentStep, AgentStop, hasErrorCode } from '@holdfast/core';
import { Continuation, stopSignal } from '@holdfast/core/engine';
import { expectDeeplyFrozen, expectRoundTrip, START as T } from '../../support/arbitraries.ts';

const [first, second] = [
  stopSignal({ reason: 'costLimitReached', message: 'Spent.', context: { limit: 1 }, source: 'guard' }),
  stopSignal({ reason: 'unknown' }),
];
const signalled = Continuation.empty.withSignal(first);
const requested = Continuation.empty.withRequested();
const overruled = signalled.withRequested().withStepBegun();

describe('a continuation', () => {
  test('preserves the order of signals, which a new step overrides', () => {
    const both = overruled.withSignal(second);
    expect(both.signals).toEqual([first, second]);
    expect([signalled.hasNewSignals, overruled.hasNewSignals, both.hasNewSignals]).toEqual([
      true,
      false,
      true,
    ]);
    expect([overruled.isRequested, overruled.overruledSignals]).toEqual([false, 1]);
  });
  test('knows the source of each reason', () => {
    expect([signalled.includes(first), signalled.includes(second)]).toEqual([true, false]);
    expect(signalled.includes({ ...first, message: 'Again.' })).toBe(true);
    expect(signalled.withSignal(second).includes(first)).toBe(true);
    expect(signalled.includes({ ...first, source: 'other' })).toBe(false);
    expect(signalled.includes({ ...first, reason: 'unknown' })).toBe(false);
  });
  test('does not count a signal that a step has overridden', () => {
    expect([overruled.includes(first), overruled.withSignal(first).includes(first)]).toEqual([false, true]);
  });
  test('stores a copy of a signal', () => {
    const mine = { reason: 'unknown', message: 'a', context: { limit: [1] } } as const;
    const { signals } = Continuation.empty.withSignal(mine);
    expect(signals).toEqual([mine]);
    expect([Object.isFrozen(mine), Object.isFrozen(mine.context)]).toEqual([false, false]);
    expectDeeplyFrozen(signals);
    expect(() => Continuation.empty.withSignal({ ...mine, reason: 'bored' as never })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
  test('stays the same when nothing changes', () => {
    expect(requested.withRequested()).toBe(requested);
    expect(signalled.withoutRequest()).toBe(signalled);
    expect(overruled.withStepBegun()).toBe(overruled);
    expect(requested.withoutRequest()).toBe(Continuation.empty);
    expect(requested.withStepBegun()).toBe(Continuation.empty);
    expect(signalled.withRequested().withoutRequest()).toEqual(signalled);
  });
  test.for([signalled, requested, overruled, overruled.withSignal(second).withRequested()])(
    'is restored from JSON: %j',
    (continuation) => {
      const restored = Continuation.fromJSON(JSON.parse(JSON.stringify(continuation)));
      assert.deepStrictEqual(restored, continuation);
      expectDeeplyFrozen(restored);
    },
  );
  test('can lack the signals of the step before', () => {
    const begun = AgentState.empty({ at: T }).withStopSignal(first, T).withStopSignal(second, T);
    const state = begun.withCurrentStep(AgentStep.create(), T).withCurrentStepCompleted(T);
    for (const signals of [[second], [first], [first, first], [second, second, first]]) {
      const document = JSON.parse(JSON.stringify(state)) as { execution: { continuation: object } };
      document.execution.continuation = { signals };
      const restored = AgentState.fromJSON(document);
      expect(restored.execution?.continuation.signals).toEqual(signals);
      expectRoundTrip(restored);
    }
  });
  test('has a document without empty members', () => {
    expect(JSON.parse(JSON.stringify(overruled))).toEqual({ signals: [first], overruledSignals: 1 });
    expect(JSON.parse(JSON.stringify(requested))).toEqual({ isRequested: true });
  });
});

test('a signal at every step has the same cost at every step: to raise, to write and to read', () => {
  const steps = 40_000; // at the cost of the square this takes a minute
  let state = AgentState.empty({ at: T });
  for (let step = 0; step < steps; step++) {
    const signal = stopSignal({ reason: step === 7 ? 'errorForbade' : 'unknown', source: `${step}` });
    state = state
      .withCurrentStep(AgentStep.create(), T)
      .withStopSignal(signal, T)
      .withContinuationRequested(T)
      .withCurrentStepCompleted(T);
  }
  const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
  expect(restored.execution?.continuation.signals).toHaveLength(steps);
  expect([restored.stopSignal?.source, state.stopSignal?.source]).toEqual(['7', '7']);
  expect(JSON.stringify(restored)).toBe(JSON.stringify(state));
});

describe('the highest signal', () => {
  const [low, high, alike] = [
    stopSignal({ reason: 'unknown' }),
    stopSignal({ reason: 'stopRequested', message: 'a' }),
    stopSignal({ reason: 'stopRequested', message: 'b' }),
  ];
  test.for([
    [[], undefined],
    [[low], low],
    [[low, high], high],
    [[high, low], high],
    [[low, alike, high], alike],
  ] as const)('of %j', ([signals, highest]) => {
    const continuation = signals.reduce((all, signal) => all.withSignal(signal), Continuation.empty);
    expect(continuation.highest).toEqual(highest);
    expect(Continuation.fromJSON(JSON.parse(JSON.stringify(continuation)))).toEqual(continuation);
    expect(continuation.signals).toEqual(signals);
    expect(continuation.signals).toBe(continuation.signals);
  });
});

describe('a tool or a hook that stops the execution', () => {
  test('with a text raises the reason stopRequested', () => {
    const stop = new AgentStop('Enough.');
    expect(stop.signal).toEqual({ reason: 'stopRequested', message: 'Enough.' });
    expect([stop.message, stop.code, stop.data]).toEqual(['Enough.', 'AGENT_STOP', stop.signal]);
    expect(hasErrorCode(stop, 'AGENT_STOP')).toBe(true);
  });
  test('with a signal preserves its reason, source and facts', () => {
    expect(new AgentStop(first).signal).toEqual(first);
    expect(new AgentStop({ reason: 'completed' }).message).toBe('completed');
  });
});
