import { describe, expect, test } from 'vitest';
import { WorkSlots } from '../../../src/session/claim/work-slots.ts';
import { settled } from '../../support/durable-world.ts';

describe('the first session of a runtime', () => {
  test.each([
    ['accept', 'alone', 'accept'],
    ['alone', 'alone', 'refuse'],
    ['refuse', 'refuse', 'refuse'],
  ] as const)(
    'with the policy %s claims a suspect %s, and a second one %s',
    async (policy, first, second) => {
      const slots = new WorkSlots();
      const one = await slots.enter(policy);
      one.claimed();
      const other = await slots.enter(policy);
      expect([one.ifSuspect, other.ifSuspect]).toEqual([first, second]);
      one.leave();
      one.leave();
      other.leave();
      expect((await slots.enter(policy)).ifSuspect).toBe(first);
    },
  );

  test('is shared before a second one gets its place', async () => {
    const slots = new WorkSlots();
    const order: string[] = [];
    const shared = Promise.withResolvers<void>();
    const one = await slots.enter('alone');
    const entering = slots.enter('accept').then(() => order.push('second'));
    await settled();
    one.claimed(() => (order.push('share'), shared.promise));
    await settled();
    expect(order).toEqual(['share']);
    shared.resolve();
    await entering;
    await slots.enter('accept');
    expect(order).toEqual(['share', 'second']);
  });

  test.each(['a claim that failed', 'an end'] as const)('blocks no second one after %s', async (how) => {
    const slots = new WorkSlots();
    const one = await slots.enter('alone');
    if (how === 'an end') one.claimed(() => Promise.reject(new Error('It is not alone any more.')));
    one.leave();
    expect((await slots.enter('alone')).ifSuspect).toBe('alone');
  });
});
