import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jitterOf } from '../src/jitter.ts';

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
