import { describe, expect, test } from 'vitest';
import { groupLimits, type GroupConcurrency, type GroupLimits } from '@holdfast/core/engine';
import { LaneTurns, type LaneLimits } from '../../../../src/session/engine/queue/lane-turns.ts';

const NOW = 1_000;

/** The turns of sessions, each as "id lane group priority". */
function turnsOf(
  sessions: readonly string[],
  limits: Readonly<Record<string, LaneLimits>> = {},
  ofGroups?: GroupLimits,
): LaneTurns {
  const turns = new LaneTurns(limits, ofGroups);
  for (const session of sessions) {
    const [sessionId = '', lane, group, priority] = session.split(' ');
    turns.add(sessionId, { lane, group, priority: priority === undefined ? undefined : Number(priority) });
  }
  return turns;
}

/** Takes all sessions, in order. */
function takeAll(turns: LaneTurns, now = NOW): readonly string[] {
  const taken: string[] = [];
  for (let next = turns.take(now); next !== undefined; next = turns.take(now)) taken.push(next);
  return taken;
}

describe('groups', () => {
  test('of one lane take turns, each in the order of its sessions', () => {
    const turns = turnsOf(['a1 x a', 'a2 x a', 'a3 x a', 'b1 x b', 'b2 x b', 'n1 x']);
    expect(takeAll(turns)).toEqual(['a1', 'b1', 'n1', 'a2', 'b2', 'a3']);
  });

  test('of a higher priority go before other groups', () => {
    const turns = turnsOf(['a1 x a 0', 'b1 x b 1', 'b2 x b 1', 'c1 x c 1', 'a2 x a 5']);
    expect(takeAll(turns)).toEqual(['a2', 'b1', 'c1', 'b2', 'a1']);
  });

  test('with the same name in two lanes have a turn in each', () => {
    const turns = turnsOf(['a1 x a', 'a2 x a', 'b1 x b', 'c1 y a', 'c2 y a']);
    expect(takeAll(turns)).toEqual(['a1', 'c1', 'b1', 'c2', 'a2']);
  });

  test('that are empty lose their turn to the others', () => {
    const turns = turnsOf(['a1 x a', 'b1 x b', 'b2 x b']);
    expect([turns.take(NOW), turns.take(NOW)]).toEqual(['a1', 'b1']);
    turns.add('a2', { lane: 'x', group: 'a' });
    expect(takeAll(turns)).toEqual(['b2', 'a2']);
  });
});

describe('a group at its limit', () => {
  const limited = (sessions: readonly string[], limit: GroupConcurrency): LaneTurns =>
    turnsOf(sessions, {}, groupLimits(limit));

  test('is passed over in all lanes until a session of it is done', () => {
    const turns = limited(['a1 x a', 'a2 x a', 'a3 y a', 'b1 x b', 'n1 x', 'n2 x'], 1);
    expect(takeAll(turns)).toEqual(['a1', 'b1', 'n1', 'n2']);
    turns.done({ lane: 'x', group: 'a' });
    expect(takeAll(turns)).toEqual(['a3']);
    turns.done({ lane: 'y', group: 'a' });
    turns.done({ lane: 'x', group: 'b' });
    expect(takeAll(turns)).toEqual(['a2']);
  });

  test('lets sessions of a lower priority start', () => {
    const turns = limited(['a1 x a 5', 'a2 x a 5', 'b1 x b 0'], 1);
    expect(takeAll(turns)).toEqual(['a1', 'b1']);
  });

  test('has the limit that a function returns for it', () => {
    const turns = limited(['a1 x a', 'a2 x a', 'b1 x b', 'b2 x b'], (group) => (group === 'a' ? 2 : 1));
    expect(takeAll(turns)).toEqual(['a1', 'b1', 'a2']);
  });
});

describe('a lane', () => {
  test('at its limit is passed over until a session of it is done', () => {
    const turns = turnsOf(['a x', 'b x', 'c y'], { x: { concurrency: 1 } });
    expect(takeAll(turns)).toEqual(['a', 'c']);
    turns.done({ lane: 'x' });
    expect(takeAll(turns)).toEqual(['b']);
  });

  test('that is paused starts no session before the latest end', () => {
    const turns = turnsOf(['a x', 'b y']);
    turns.pause('x', NOW + 20);
    turns.pause('x', NOW + 10);
    expect([turns.nextEnd(NOW), takeAll(turns)]).toEqual([NOW + 20, ['b']]);
    expect([turns.nextEnd(NOW + 20), takeAll(turns, NOW + 20)]).toEqual([undefined, ['a']]);
  });

  test('without sessions does not take the turn of another', () => {
    const turns = turnsOf(['a x']);
    expect(turns.take(NOW)).toBe('a');
    turns.done({ lane: 'x' });
    expect(turns.nextEnd(NOW)).toBeUndefined();
    for (const session of ['b', 'c']) turns.add(session, { lane: 'x' });
    turns.add('d', { lane: 'y' });
    expect(takeAll(turns)).toEqual(['b', 'd', 'c']);
  });
});
