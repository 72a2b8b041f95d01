import { InProcessEngine, type Clock } from '@holdfast/core';
import type { Advance, AdvanceResult, AdvanceOutcome } from '@holdfast/core/engine';
import { manualClock, type ManualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../../support/builders.ts';
import { settled } from '../../../support/durable-world.ts';
import { unhandledRejections } from '../../../support/unhandled-rejections.ts';

const advanced = (type: 'finished' | 'suspended' | 'yield' = 'finished'): AdvanceResult => ({
  outcome: { type },
  wake: [],
});

/** A clock that tells how many time-outs wait. */
function watched(): { readonly clock: Clock & ManualClock; readonly timers: () => number } {
  const clock = manualClock(1_000);
  let timers = 0;
  const after = (milliseconds: number, callback: () => void): (() => void) => {
    let isSet = true;
    const unset = (): void => {
      if (isSet) timers--;
      isSet = false;
    };
    timers++;
    const callOff = clock.after(milliseconds, () => (unset(), callback()));
    return () => (unset(), callOff());
  };
  return { clock: { ...clock, after }, timers: () => timers };
}

const unhandled = unhandledRejections();

describe('results that the engine cannot follow', () => {
  const finished: AdvanceOutcome = { type: 'finished' };
  test.each<readonly [string, AdvanceResult]>([
    ['an instant that is no number', { outcome: { type: 'sleep', until: Number.NaN }, wake: [] }],
    ['a wake-up without an id', { outcome: finished, wake: [5 as never] }],
    [
      'a lane that is no string',
      { outcome: { type: 'yield' }, wake: [], next: { lane: 5 as never, agentName: 'a' } },
    ],
    ['no outcome', {} as never],
  ])('go to onError, and the work goes on: %s', async (_, broken) => {
    for (const isSuspect of [false, true]) {
      const engine = new InProcessEngine();
      const seen: string[] = [];
      const errors: unknown[] = [];
      const isolated: Advance = async () => broken;
      const advance: Advance = async (id) => {
        seen.push(id);
        if (id !== 'broken') return advanced();
        return isSuspect ? { outcome: { type: 'isolate' }, wake: [] } : broken;
      };
      await engine.serve(advance, { isolated, concurrency: 1, onError: (_, id) => errors.push(id) });
      for (const id of ['broken', 'other']) await engine.wake(id);
      await settled();
      await engine.wake('broken');
      await settled();
      expect([seen, errors]).toEqual([
        ['broken', 'other', 'broken'],
        ['broken', 'broken'],
      ]);
    }
    expect(unhandled).toEqual([]);
  });
});

describe('wake-ups', () => {
  test('one during work has the session looked at once more, many are one', async () => {
    const engine = new InProcessEngine();
    const [gate, seen] = [deferred(), [] as string[]];
    await engine.serve(async (id) => {
      seen.push(id);
      if (seen.length === 1) await gate.promise;
      return advanced();
    });
    await engine.wake('a');
    await settled();
    for (let i = 0; i < 3; i++) await engine.wake('a');
    gate.resolve();
    await settled();
    expect(seen).toEqual(['a', 'a']);
  });

  test('one that comes as work ends, at any turn of it, is not lost', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const engine = new InProcessEngine();
      let hasSeen = false;
      let isThere = false;
      await engine.serve(async () => {
        hasSeen = isThere;
        return advanced('suspended');
      });
      await engine.wake('a');
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      isThere = true;
      await engine.wake('a');
      await settled();
      expect(hasSeen, `after ${turns} turns`).toBe(true);
    }
  });

  test('a thousand sessions, so many at once as was said', async () => {
    const engine = new InProcessEngine();
    const seen = new Set<string>();
    let [now, most] = [0, 0];
    const all = deferred();
    await engine.serve(
      async (id) => {
        most = Math.max(most, ++now);
        await settled();
        now--;
        if (seen.add(id).size === 1_000) all.resolve();
        return advanced();
      },
      { concurrency: 50 },
    );
    for (let i = 0; i < 1_000; i++) await engine.wake(`s${i}`);
    await all.promise;
    expect(most).toBe(50);
  });

  test('those for later wait for who serves, and keep no timer without', async () => {
    const { clock, timers } = watched();
    const engine = new InProcessEngine({ clock });
    const seen: string[] = [];
    const advance: Advance = async (id) => (seen.push(id), advanced());
    await engine.wake('a', { at: 2_000 });
    await engine.wake('a', { at: 2_000 });
    expect(timers()).toBe(0);
    const first = await engine.serve(advance);
    expect(timers()).toBe(1);
    await first.stop();
    expect(timers()).toBe(0);
    clock.advance(5_000);
    await engine.serve(advance);
    clock.advance(0);
    await settled();
    expect([seen, timers()]).toEqual([['a'], 0]);
  });
});

describe('stopping', () => {
  test.each<AdvanceOutcome>([{ type: 'sleep', until: 9_000 }, { type: 'yield' }])(
    'what yields meanwhile (%o) leaves no timer, and is taken up by who serves next',
    async (outcome) => {
      const { clock, timers } = watched();
      const engine = new InProcessEngine({ clock });
      const served = await engine.serve(
        (_, { signal } = {}) =>
          new Promise((resolve) => {
            signal?.addEventListener('abort', () => resolve({ outcome, wake: [] }));
          }),
      );
      await engine.wake('a');
      await served.stop();
      expect(timers()).toBe(0);
      const seen: string[] = [];
      await engine.serve(async (id) => (seen.push(id), advanced()));
      clock.advance(8_000);
      await settled();
      expect(seen).toEqual(['a']);
    },
  );

  test('who has stopped does not stop who serves next', async () => {
    const engine = new InProcessEngine();
    const first = await engine.serve(async () => advanced());
    await first.stop();
    const seen: string[] = [];
    await engine.serve(async (id) => (seen.push(id), advanced()));
    await first.stop();
    await engine.wake('a');
    await settled();
    expect(seen).toEqual(['a']);
  });
});

describe('what an advance throws', () => {
  test('is told, and the session is looked at again when it is woken', async () => {
    const told: unknown[] = [];
    const engine = new InProcessEngine();
    const onError = (error: unknown, id: string | undefined): void => {
      told.push([(error as Error).message, id]);
      throw new Error('in the listener');
    };
    let count = 0;
    const advance = async (): Promise<AdvanceResult> => {
      if (++count === 1) throw new Error('down');
      return advanced();
    };
    await engine.serve(advance, { onError });
    await engine.wake('a');
    await settled();
    await engine.wake('a');
    await settled();
    expect([told, count]).toEqual([[['down', 'a']], 2]);
  });
});
