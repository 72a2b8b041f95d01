import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoff, jitterOf } from '../src/backoff.ts';

test('each pause is twice as long as the one before, up to the longest', () => {
  const pauses = [1, 2, 3, 4, 5, 2_000].map((failures) => backoff({ first: 25, longest: 180 }, failures));
  expect(pauses).toEqual([25, 50, 100, 180, 180, 180]);
});

test('a factor sets the growth of the pauses', () => {
  expect([1, 2, 3].map((failures) => backoff({ first: 5, longest: 3_600, factor: 4 }, failures))).toEqual([
    5, 20, 80,
  ]);
});

test('jitter is a factor from 0.5 to 1, and the same for the same id and pause', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat(), (id, pauses) => {
      const factor = jitterOf(id, pauses);
      expect(factor).toBeGreaterThanOrEqual(0.5);
      expect(factor).toBeLessThanOrEqual(1);
      expect(jitterOf(id, pauses)).toBe(factor);
    }),
  );
});

test('jitter differs between ids and between pauses', () => {
  const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
  const factors = ids.flatMap((id) => [0, 1, 2].map((pauses) => jitterOf(id, pauses)));
  expect(new Set(factors).size).toBeGreaterThan(50);
});

/** A UUID of version 7: its first digits are the time. */
function timedUuid(): string {
  return `01928f3a-5c7d-7${crypto.randomUUID().slice(15)}`;
}

test.each([
  ['version 4', () => crypto.randomUUID()],
  ['version 7', timedUuid],
])('the first pauses and the last ones vary: %s', (version, newId) => {
  const ids = Array.from({ length: 200 }, newId);
  const groups = version === 'version 4' ? 14 : 3;
  for (let pauses = 0; pauses < groups; pauses++) {
    const factors = ids.map((id) => jitterOf(id, pauses));
    expect(Math.max(...factors) - Math.min(...factors), `pause ${pauses}`).toBeGreaterThan(0.4);
  }
});
