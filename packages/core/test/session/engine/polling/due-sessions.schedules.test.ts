import { expect, test } from 'vitest';
import { KnownSchedules } from '../../../../src/session/engine/polling/due-sessions.ts';

test('the last schedule counts, and an empty one changes nothing', () => {
  const schedules = new KnownSchedules();
  schedules.add('a', { lane: 'x', priority: 1 });
  schedules.add('a', { lane: 'y' });
  schedules.add('a', {});
  expect([schedules.get('a').lane, schedules.get('a').priority, schedules.get('b')]).toEqual([
    'y',
    undefined,
    {},
  ]);
});

test('the schedule that was added longest ago is forgotten', () => {
  const schedules = new KnownSchedules();
  for (let index = 0; index <= 10_000; index++) schedules.add(`session ${index}`, { priority: index });
  expect([schedules.get('session 0'), schedules.get('session 1').priority]).toEqual([{}, 1]);
});
