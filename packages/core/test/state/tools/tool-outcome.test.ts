import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentStep, ToolExecution, type ToolOutcome } from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { OUTCOME_RULES, type ToolOutcomeType } from '@holdfast/core/engine';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { expectDeeplyFrozen, outcomes, START as T } from '../../support/arbitraries.ts';
import { addCall, endedBy, throughText } from '../../support/step-parts.ts';

const runs = cases(200);

describe('the rules of tool outcomes', () => {
  const yes = true;
  const rows: readonly (readonly [
    ToolOutcomeType,
    hasError: boolean,
    makesStepError: boolean,
    countsAsFailure: boolean,
    canFailExecution: boolean,
    needsStart: boolean,
  ])[] = [
    ['succeeded', false, false, false, false, yes],
    ['failed', yes, yes, yes, yes, false],
    ['blocked', yes, yes, yes, false, false],
    ['denied', yes, yes, false, false, false],
    ['interrupted', yes, yes, false, yes, yes],
  ];
  test.for(rows)('%s', ([type, ...rule]) => {
    const [hasError, makesStepError, countsAsFailure, canFailExecution, needsStart] = rule;
    const all = { hasError, makesStepError, countsAsFailure, canFailExecution, needsStart };
    expect(OUTCOME_RULES[type]).toEqual(all);
    const unstarted = ToolExecution.create(addCall).withOutcome(
      type === 'succeeded' ? { type, value: 1 } : endedBy(type),
      T,
    );
    expect(unstarted.startedAt).toBe(needsStart ? T : undefined);
    const outcome = type === 'succeeded' ? { type, value: null } : endedBy(type);
    const execution = ToolExecution.start(addCall, T).withOutcome(outcome, T + 500);
    expect([execution.hasError, execution.wasBlocked, execution.duration]).toEqual([
      hasError,
      type === 'blocked',
      0.5,
    ]);
    expect([execution.error !== undefined, execution.value]).toEqual([hasError, hasError ? undefined : null]);
    const step = AgentStep.create()
      .withResponse(InferenceResponse.of({ content: [addCall] }))
      .withToolExecution(execution);
    expect([step.type, step.hasErrors]).toEqual([makesStepError ? 'error' : 'toolExecution', hasError]);
    expect(step.executedToolCalls).toHaveLength(type === 'blocked' || type === 'denied' ? 0 : 1);
  });
  test('the table lists every outcome', () =>
    expect(Object.keys(OUTCOME_RULES)).toEqual(rows.map(([type]) => type)));

  test('a running call has no outcome, and another attempt has the same key', () => {
    const first = ToolExecution.start(addCall, T);
    expect([first.isRunning, first.rule, first.hasError, first.duration, first.attempt]).toEqual([
      true,
      undefined,
      false,
      0,
      1,
    ]);
    const second = first.withOutcome(endedBy('interrupted'), T).withNextAttempt(T + 9);
    expect([second.attempt, second.isRunning, second.idempotencyKey, second.startedAt]).toEqual([
      2,
      true,
      first.idempotencyKey,
      T + 9,
    ]);
    expect([second.name, second.args]).toEqual(['add', { a: 1 }]);
    expect(first.idempotencyKey).toBe(first.id);
    expect(first.withOutcome({ type: 'succeeded', value: 1 }, T)).toMatchObject({
      isRunning: false,
      error: undefined,
    });
    expect([first.wasBlocked, first.error]).toEqual([false, undefined]);
    expect(first.toResultPart().output).toEqual({
      type: 'error-text',
      value: 'The call was started and its outcome is unknown.',
    });
  });
  test('an end before the start has duration 0', () => {
    expect(ToolExecution.start(addCall, T).withOutcome(endedBy('failed'), T - 9).duration).toBe(0);
  });
  test('every outcome is copied, frozen and restored from JSON', () => {
    fc.assert(
      fc.property(outcomes, (outcome) => {
        const execution = ToolExecution.start(addCall, T).withOutcome(outcome, T);
        assert.deepStrictEqual(ToolExecution.fromJSON(throughText(execution)), execution);
        expectDeeplyFrozen(execution);
        expectDeeplyFrozen(execution.toResultPart());
      }),
      runs,
    );
    const value = { list: [1] };
    const execution = ToolExecution.start(addCall, T).withOutcome({ type: 'succeeded', value }, T);
    value.list.push(2);
    expect(execution.value).toEqual({ list: [1] });
  });
  test('a value is converted to JSON; other values and invalid outputs are refused', () => {
    const end = (outcome: object) => ToolExecution.start(addCall, T).withOutcome(outcome as ToolOutcome, T);
    expect(end({ type: 'succeeded', value: { at: new Date(0), f: () => 1 } }).value).toEqual({
      at: '1970-01-01T00:00:00.000Z',
    });
    expect(end({ type: 'succeeded', value: undefined }).value).toBeNull();
    expect(() => end({ type: 'succeeded', value: 1n })).toThrow(
      expect.objectContaining({ code: 'NOT_JSON' }),
    );
    expect(() => end({ type: 'succeeded', value: 1, modelOutput: { type: 'image' } })).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  });
});
