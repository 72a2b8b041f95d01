import { applySavePlan, type SavePlan } from '@holdfast/core/store';
import { expect, test } from 'vitest';
import {
  checkTextSizes,
  planFromJson,
  planToJson,
  splitPlan,
  wholePlan,
} from '../../src/log/plan-entries.ts';

const plan: SavePlan = {
  isWhole: false,
  head: '{"version":2}',
  values: new Map([
    ['definition', '{"name":"a"}'],
    ['systemPrompt', undefined],
  ]),
  lists: [
    { name: 'messages:conversation', keep: 2, append: ['"c"', '"d"'] },
    { name: 'steps', keep: 0, append: [] },
  ],
};

test('plans are equal after a round trip through JSON', () => {
  expect(planFromJson(JSON.parse(planToJson(plan)), 'it')).toEqual(plan);
});

test.each([null, [], {}, [true, 'x'], [1, 'x', [], []], 'x'])('the JSON %j is not a plan', (json) => {
  expect(() => planFromJson(json, 'it')).toThrow(expect.objectContaining({ code: 'STATE_FORMAT' }));
});

test('a small plan is not split', () => {
  expect(splitPlan(plan)).toEqual([plan]);
});

test('the parts of a split plan have the effect of the plan when they are applied in order', () => {
  const mega = (name: string): string => JSON.stringify(name + 'x'.repeat(3_000_000));
  const large: SavePlan = {
    isWhole: true,
    head: '{}',
    values: new Map([['definition', mega('d')]]),
    lists: [
      { name: 'a', keep: 0, append: [mega('1'), mega('2'), mega('3'), '"4"'] },
      { name: 'b', keep: 0, append: [] },
      { name: 'c', keep: 0, append: [mega('1') + mega('2') + mega('3'), mega('4')] },
    ],
  };
  const plans = splitPlan(large);
  expect(plans.length).toBeGreaterThan(3);
  expect(plans.map(({ isWhole }) => isWhole)).toEqual(plans.map((_, index) => index === 0));
  for (const each of plans.slice(0, -2)) expect(planToJson(each).length).toBeLessThan(8_400_000);
  let saved = applySavePlan(
    undefined,
    wholePlan({ head: '', values: new Map([['x', '1']]), lists: new Map() }),
  );
  for (const each of plans) saved = applySavePlan(saved, each);
  expect(saved).toEqual(applySavePlan(undefined, large));
  expect(applySavePlan(undefined, wholePlan(saved))).toEqual(saved);
});

test('the limit of a text counts bytes', () => {
  const limit = 64 * 1024 * 1024;
  const of = (text: string): SavePlan => ({ ...plan, values: new Map([['metadata', text]]) });
  expect(() => checkTextSizes('a', of('x'.repeat(limit)))).not.toThrow();
  const refused = expect.objectContaining({
    code: 'SESSION_TOO_LARGE',
    data: { sessionId: 'a', bytes: limit + 2, limit },
  });
  expect(() => checkTextSizes('a', of('é'.repeat(limit / 2 + 1)))).toThrow(refused);
});
