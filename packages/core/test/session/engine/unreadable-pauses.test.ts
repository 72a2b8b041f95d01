import { expect, test } from 'vitest';
import { UnreadablePauses } from '../../../src/session/engine/unreadable-pauses.ts';

test('each pause is twice as long as the one before, up to an hour', () => {
  const pauses = new UnreadablePauses();
  let now = 0;
  const lengths: number[] = [];
  for (let count = 0; count < 9; count++) {
    expect(pauses.isPaused('a', now)).toBe(false);
    pauses.begin('a', now, 60);
    const start = now;
    while (pauses.isPaused('a', now)) now += 1_000;
    lengths.push((now - start) / 1_000);
  }
  expect(lengths).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
  expect(pauses.isPaused('b', now)).toBe(false);
});

test('the pauses of more than 10,000 sessions are not remembered', () => {
  const pauses = new UnreadablePauses();
  for (let index = 0; index <= 10_000; index++) pauses.begin(`s${index}`, 0, 60);
  expect(['s0', 's1', 's10000'].map((id) => pauses.isPaused(id, 0))).toEqual([false, true, true]);
});
