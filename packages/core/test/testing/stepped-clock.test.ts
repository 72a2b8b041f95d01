import { sendMessage } from '@holdfast/core';
import { manualClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { deferred } from '../support/builders.ts';
import { call, definition, settled, world } from '../support/durable-world.ts';

test('a timer with a delay that is no whole number fires at the next millisecond', () => {
  const clock = manualClock();
  const fired: number[] = [];
  for (const delay of [1_000 / 3, 0.1, 2]) clock.after(delay, () => fired.push(clock.now()));
  clock.advance(333.2);
  clock.advance(0.5);
  expect(fired).toEqual([1, 2, 334]);
  expect(clock.now()).toBe(335);
});

test.each([1, 7, 10, 31])(
  'a claim of %i seconds is renewed by a clock of whole milliseconds',
  async (leaseSeconds) => {
    const paid = deferred<string>();
    const made = world({ act: () => paid.promise });
    const runtime = made.process([call(1), 'Done.'], { leaseSeconds });
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    for (let beat = 0; beat < 12; beat++) {
      await settled();
      made.clock.advance((leaseSeconds * 1_000) / 4);
    }
    paid.resolve('paid');
    expect((await running).state.finalResponse).toBe('Done.');
  },
);
