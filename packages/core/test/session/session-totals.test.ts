import fc from 'fast-check';
import { AgentState, createAgentLoop, ExecutionBudget } from '@holdfast/core';
import type { SessionTotals } from '@holdfast/core/store';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { DocumentReader } from '../../src/document.ts';
import {
  NO_TOTALS,
  readSessionTotals,
  spentOf,
  sumOfTotals,
  totalsOf,
  totalsWithout,
} from '../../src/session/session-totals.ts';
import { call, does, told } from '../support/builders.ts';

const totals: fc.Arbitrary<SessionTotals> = fc.record({
  executions: fc.nat(1_000),
  steps: fc.nat(1e6),
  seconds: fc.nat(1e9).map((milliseconds) => milliseconds / 1e3),
  tokens: fc.nat(1e9),
  cost: fc.nat(1e9).map((billionths) => billionths / 1e9),
});

test('no execution has used nothing', () => {
  expect(totalsOf(undefined)).toBe(NO_TOTALS);
  expect(Object.values(NO_TOTALS)).toEqual([0, 0, 0, 0, 0]);
  expect(totalsOf(AgentState.empty().execution)).toBe(NO_TOTALS);
});

test('the totals of an execution are its steps, its work, its tokens and its known cost', async () => {
  const prices = { m: { input: 1, output: 10 } };
  const usage = { inputTokens: 100, outputTokens: 20 };
  const driver = scriptedDriver(call('look'), { text: 'Done.', usage });
  const loop = createAgentLoop({ driver, prices, tools: [does('look')], clock: steppedClock(0, 250) });
  const { execution } = await loop.run(told().withLlmConfig({ model: 'm' }));
  expect(totalsOf(execution)).toEqual({
    executions: 1,
    steps: 2,
    seconds: execution?.workedSeconds,
    tokens: 135,
    cost: 0.00036,
  });
  expect(totalsOf(execution).seconds).toBeGreaterThan(0);
});

test('a part that is taken from a sum leaves the other part, however many are added', () => {
  fc.assert(
    fc.property(totals, totals, (one, other) => {
      expect(totalsWithout(sumOfTotals(one, other), other)).toEqual(one);
      expect(sumOfTotals(one, other)).toEqual(sumOfTotals(other, one));
    }),
    cases(100),
  );
  const part = { executions: 1, steps: 1, seconds: 0.001, tokens: 1, cost: 1e-9 };
  let sum = NO_TOTALS;
  for (let count = 0; count < 10_000; count++) sum = sumOfTotals(sum, part);
  expect(sum).toEqual({ executions: 10_000, steps: 10_000, seconds: 10, tokens: 10_000, cost: 0.00001 });
});

test('a sum does not exceed the numbers that a document can hold, and a rest is not below 0', () => {
  const most = {
    executions: Number.MAX_SAFE_INTEGER,
    steps: Number.MAX_SAFE_INTEGER,
    seconds: 1e300,
    tokens: Number.MAX_SAFE_INTEGER,
    cost: 1e300,
  };
  const sum = sumOfTotals(most, most);
  expect([sum.executions, sum.steps, sum.tokens]).toEqual(Array(3).fill(Number.MAX_SAFE_INTEGER));
  expect(DocumentReader.read(JSON.parse(JSON.stringify(sum)), readSessionTotals)).toEqual(sum);
  expect(totalsWithout(NO_TOTALS, most)).toEqual(NO_TOTALS);
});

test('totals are the spent part of a budget', () => {
  const spent = spentOf({ executions: 7, steps: 2, seconds: 1.5, tokens: 30, cost: 0.25 });
  const budget = ExecutionBudget.of({ maxSteps: 3, maxSeconds: 1, maxTokens: 100, maxCost: 1 });
  expect(budget.remaining(spent).toJSON()).toEqual({
    maxSteps: 1,
    maxSeconds: 0,
    maxTokens: 70,
    maxCost: 0.75,
  });
});

test.each([
  [{ ...NO_TOTALS, steps: -1 }],
  [{ ...NO_TOTALS, tokens: 1.5 }],
  [{ ...NO_TOTALS, cost: -0.1 }],
  [{ ...NO_TOTALS, days: 1 }],
  [{ executions: 1 }],
])('a document with the totals %j is refused', (document) => {
  expect(() => DocumentReader.read(document, readSessionTotals)).toThrow(/^Invalid document at /);
});
