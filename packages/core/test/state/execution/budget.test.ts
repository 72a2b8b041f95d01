import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { ExecutionBudget, type BudgetLimits } from '@holdfast/core';
import { expectDeeplyFrozen, START as T } from '../../support/arbitraries.ts';
import { throughText } from '../../support/step-parts.ts';

describe('budgets', () => {
  const budget = ExecutionBudget.of({ maxSteps: 20, maxTokens: 10_000, maxSeconds: 60 });
  const limits = ({ maxSteps, maxTokens, maxSeconds, maxCost, deadline }: ExecutionBudget) => [
    maxSteps,
    maxTokens,
    maxSeconds,
    maxCost,
    deadline,
  ];
  test('remaining subtracts the spent amounts', () => {
    expect(limits(budget.remaining({ steps: 5, tokens: 3_000 }))).toEqual([
      15,
      7_000,
      60,
      undefined,
      undefined,
    ]);
    expect(limits(budget.remaining({ steps: 50, tokens: 1e9, seconds: 60, cost: 5 }))).toEqual([
      0,
      0,
      0,
      undefined,
      undefined,
    ]);
    expect(limits(ExecutionBudget.of({ maxCost: 1, deadline: T }).remaining({ cost: 0.25 }))).toEqual([
      undefined,
      undefined,
      undefined,
      0.75,
      T,
    ]);
    expect(ExecutionBudget.unlimited().remaining({ steps: 5 })).toBe(ExecutionBudget.unlimited());
  });
  test('cappedBy returns the smaller limits', () => {
    expect(budget.cappedBy(ExecutionBudget.of({ maxSteps: 10 })).maxSteps).toBe(10);
    expect(limits(budget.cappedBy(ExecutionBudget.of({ maxSteps: 30, maxCost: 1, deadline: T })))).toEqual([
      20,
      10_000,
      60,
      1,
      T,
    ]);
    const [early, late] = [ExecutionBudget.of({ deadline: T }), ExecutionBudget.of({ deadline: T + 1 })];
    expect([early.cappedBy(late).deadline, late.cappedBy(early).deadline]).toEqual([T, T]);
    expect(ExecutionBudget.unlimited().cappedBy(budget)).toEqual(budget);
  });
  const exhausted: readonly (readonly [BudgetLimits, boolean])[] = [
    [{}, false],
    [{ maxSteps: 0 }, true],
    [{ maxTokens: 0 }, true],
    [{ maxSeconds: 0 }, true],
    [{ maxCost: 0 }, true],
    [{ maxSteps: 1, maxCost: 0.01 }, false],
    [{ deadline: T }, true],
    [{ deadline: T + 1 }, false],
    [{ maxSteps: 1, deadline: T - 1 }, true],
    [{ maxSteps: 1, maxTokens: 0, deadline: T + 1 }, true],
  ];
  test.for(exhausted)('%j is exhausted: %s', ([init, is]) =>
    expect(ExecutionBudget.of(init).isExhausted(T)).toBe(is),
  );
  test('a deadline can be any instant', () => {
    expect(ExecutionBudget.of({ deadline: 0 }).isExhausted(-1)).toBe(false);
    expect(ExecutionBudget.of({ deadline: 0 }).isExhausted(0)).toBe(true);
  });
  test('an absent limit and Infinity are unlimited', () => {
    expect([ExecutionBudget.unlimited().isEmpty, budget.isEmpty]).toEqual([true, false]);
    expect(ExecutionBudget.of({ maxSteps: Infinity })).toBe(ExecutionBudget.unlimited());
    expect(ExecutionBudget.of(budget)).toBe(budget);
    expect(ExecutionBudget.of({ deadline: Infinity, maxSteps: 1 }).deadline).toBeUndefined();
  });
  test('a limit of minus zero is zero, since JSON has no minus zero', () => {
    expect(ExecutionBudget.of({ maxTokens: -0 }).maxTokens).toBe(0);
  });
  test('unlimited steps differ from an absent limit of steps', () => {
    const [unsaid, unlimited] = [ExecutionBudget.of({}), ExecutionBudget.unlimited()];
    expect([unsaid.maxSteps, unlimited.maxSteps]).toEqual([undefined, Infinity]);
    expect([unsaid.isEmpty, unlimited.isEmpty]).toEqual([true, true]);
    expect([unsaid.isExhausted(T), unlimited.isExhausted(T)]).toEqual([false, false]);
    expect(unlimited.remaining({ steps: 1e6 }).maxSteps).toBe(Infinity);
    expect(unlimited.cappedBy(ExecutionBudget.of({ maxSteps: 3 })).maxSteps).toBe(3);
    expect([unsaid.toJSON(), unlimited.toJSON()]).toEqual([{}, { maxSteps: Number.MAX_SAFE_INTEGER }]);
  });
  test('a budget is restored from JSON', () => {
    for (const one of [
      budget,
      ExecutionBudget.unlimited(),
      ExecutionBudget.of({}),
      ExecutionBudget.of({ maxSteps: Infinity, maxTokens: 5 }),
      ExecutionBudget.of({ maxCost: 0, deadline: T, maxTokens: Infinity }),
    ]) {
      assert.deepStrictEqual(ExecutionBudget.fromJSON(throughText(one)), one);
    }
    expectDeeplyFrozen(budget);
    for (const bad of [{ maxSteps: -1 }, { maxSteps: '1' }, { max: 1 }, { deadline: 1.5 }, null]) {
      expect(() => ExecutionBudget.fromJSON(bad)).toThrow(expect.objectContaining({ code: 'STATE_FORMAT' }));
    }
  });
  test('an unknown limit is refused by name', () => {
    expect(() => ExecutionBudget.of({ maxStep: 5 } as BudgetLimits)).toThrow(/"maxStep"/);
  });
  test.for([-1, Number.NaN, '5'])('%j is not a limit', (limit) => {
    expect(() => ExecutionBudget.of({ maxSteps: limit as number })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});
