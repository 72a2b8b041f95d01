import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Usage } from '@holdfast/core';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { expectDeeplyFrozen, usages } from '../../support/arbitraries.ts';
import { throughText } from '../../support/step-parts.ts';

const runs = cases(200);

describe('usage', () => {
  const [known, unknown] = [Usage.of({ inputTokens: 3, outputTokens: 4, cost: 1 }), Usage.unreported];
  test('an unknown number stays unknown and counts as unreported', () => {
    const sum = known.plus(unknown).plus(Usage.of({ inputTokens: 5 }));
    expect(sum.toJSON()).toEqual({
      inputTokens: 8,
      outputTokens: 4,
      cost: 1,
      unreportedCalls: 2,
      unpricedCalls: 2,
    });
    expect([sum.totalTokens, sum.isComplete, known.isComplete, sum.reasoningTokens]).toEqual([
      12,
      false,
      true,
      undefined,
    ]);
    expect([sum.isPriced, known.isPriced, unknown.withCost(1).isPriced, Usage.none.isPriced]).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(unknown.plus(unknown).toJSON()).toEqual({ unreportedCalls: 2, unpricedCalls: 2 });
    expect(Usage.of({})).toEqual(Usage.unreported);
    expect([Usage.of({ inputTokens: 1 }).isComplete, Usage.of({ outputTokens: 1 }).isComplete]).toEqual([
      false,
      false,
    ]);
  });
  test('adding no usage returns the same usage', () => {
    expect([known.plus(Usage.none), Usage.none.plus(known), known.withCost(1)]).toEqual([
      known,
      known,
      known,
    ]);
    expect([known.plus(Usage.none) === known, Usage.none.plus(known) === known]).toEqual([true, true]);
    expect(known.withCost(1)).toBe(known);
    expect(known.plus(unknown).withCost(1).toJSON()).toEqual({
      inputTokens: 3,
      outputTokens: 4,
      cost: 1,
      unreportedCalls: 1,
    });
    expect(known.withCost(2).cost).toBe(2);
    expect(unknown.withCost(2).cost).toBe(2);
  });
  test('sums in any grouping are equal, and are restored from JSON', () => {
    fc.assert(
      fc.property(usages, usages, usages, (...fields) => {
        const [a, b, c] = fields.map((one) => Usage.of({ ...one, cost: undefined })) as [Usage, Usage, Usage];
        assert.deepStrictEqual(a.plus(b).plus(c), a.plus(b.plus(c)));
        assert.deepStrictEqual(Usage.fromJSON(throughText(a.plus(b))), a.plus(b));
        expectDeeplyFrozen(a.plus(b));
      }),
      runs,
    );
  });
  test.for([
    { inputTokens: 1.5 },
    { outputTokens: -1 },
    { inputTokens: Number.NaN },
    { cost: Infinity },
    { cost: -1 },
    { tokens: 1 },
  ])('%j is not usage', (fields) => {
    expect(() => Usage.of(fields as object)).toThrow(expect.objectContaining({ code: 'CONTEXT_INVALID' }));
  });
});
