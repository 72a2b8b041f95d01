import { expect, test } from 'vitest';
import { NextInstants } from '../../../../src/session/engine/polling/due-sessions.ts';

test('the first instant is the earliest, and each is there once', () => {
  const instants = new NextInstants();
  for (const instant of [30, 10, 20, 10]) instants.add(instant);
  const firsts: (number | undefined)[] = [];
  for (let now = 0; now <= 30; now += 10) {
    instants.removeUntil(now);
    firsts.push(instants.first);
  }
  expect(firsts).toEqual([10, 20, 30, undefined]);
});

test('the furthest instants are forgotten', () => {
  const instants = new NextInstants();
  for (let instant = 2_000; instant > 0; instant--) instants.add(instant);
  expect(instants.first).toBe(1);
  instants.removeUntil(1_000);
  expect(instants.first).toBe(undefined);
});
