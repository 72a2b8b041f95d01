import { describe, expect, test } from 'vitest';
import { WorkSlots } from '../../../src/session/claim/work-slots.ts';
import { settled } from '../../support/durable-world.ts';

describe('the first session of a runtime', () => {
  test.each([
    ['accept', 'alone', 'accept'],
    ['alone', 'alone', 'refuse'],
    ['refuse', 'refuse', 'refuse'],
  ] as const)('with the policy %s claims a suspect %s, and a second one %s', (policy, first, second) => {
    const slots = new WorkSlots();
    const one = slots.enter(policy, 'a');
    const other = slots.enter(policy, 'a');
    expect([one.ifSuspect, other.ifSuspect]).toEqual([first, second]);
    one.leave();
    one.leave();
    other.leave();
    expect(slots.enter(policy, 'a').ifSuspect).toBe(first);
  });

  test('is shared once, before the work on any other session begins', async () => {
    const slots = new WorkSlots();
    const order: string[] = [];
    const shared = Promise.withResolvers<void>();
    const one = slots.enter('alone', 'a');
    const others = ['second', 'third'].map(async (name) => {
      await slots.enter('accept', 'a').claimed();
      order.push(name);
    });
    await settled();
    void one.claimed(() => (order.push('share'), shared.promise));
    await settled();
    expect(order).toEqual(['share']);
    shared.resolve();
    await Promise.all(others);
    await slots.enter('accept', 'a').claimed();
    expect(order).toEqual(['share', 'second', 'third']);
  });

  test('is not shared with a session whose claim failed', async () => {
    const slots = new WorkSlots();
    const order: string[] = [];
    void slots.enter('alone', 'a').claimed(async () => order.push('share'));
    slots.enter('alone', 'a').leave();
    await settled();
    expect(order).toEqual([]);
  });

  test.each(['a claim that failed', 'an end'] as const)('blocks no second one after %s', async (how) => {
    const slots = new WorkSlots();
    const one = slots.enter('alone', 'a');
    const other = slots.enter('accept', 'a');
    const share = () => Promise.reject(new Error('It is not alone any more.'));
    if (how === 'an end') void one.claimed(share);
    one.leave();
    await other.claimed();
    other.leave();
    expect(slots.enter('alone', 'a').ifSuspect).toBe('alone');
  });
});
