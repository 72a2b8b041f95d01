import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isValidCursor,
  isItemWaiting,
  waitingItemCount,
  waitingPositions,
  withItem,
  withoutItems,
  type InboxCursor,
} from '../../../../src/session/store/record/inbox-cursor.ts';
import { cases } from '../../../../../../tools/config/vitest.properties.ts';

/** One item comes in, or these are used. */
type Move = 'in' | readonly number[];

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Move>('in') },
    { weight: 2, arbitrary: fc.array(fc.integer({ min: -1, max: 40 }), { maxLength: 6 }) },
  ),
  { maxLength: 60, size: 'max' },
);

/** The plain model: every item that ever came in, and whether it waits. */
interface Model {
  readonly isWaiting: boolean[];
  since: number | undefined;
}

function play(all: readonly Move[], check: (inbox: InboxCursor, model: Model) => void): void {
  const model: Model = { isWaiting: [], since: undefined };
  let inbox = withItem(undefined, 0);
  model.isWaiting.push(true);
  model.since = 0;
  check(inbox, model);
  for (const [index, move] of all.entries()) {
    if (move === 'in') {
      if (!model.isWaiting.includes(true)) model.since = index;
      model.isWaiting.push(true);
      inbox = withItem(inbox, index);
    } else {
      for (const position of move) if (model.isWaiting[position]) model.isWaiting[position] = false;
      if (!model.isWaiting.includes(true)) model.since = undefined;
      inbox = withoutItems(inbox, move);
    }
    check(inbox, model);
  }
}

const positionsOf = ({ isWaiting }: Model): number[] =>
  isWaiting.flatMap((waits, position) => (waits ? [position] : []));

test('the cursor records the waiting items, after any enqueues and uses', () => {
  fc.assert(
    fc.property(moves, (all) =>
      play(all, (inbox, model) => {
        const positions = positionsOf(model);
        assert.equal(waitingItemCount(inbox), positions.length);
        assert.equal(inbox.first, positions[0] ?? model.isWaiting.length);
        assert.equal(inbox.next, model.isWaiting.length);
        assert.equal(inbox.since, model.since);
        assert(isValidCursor(inbox));
        for (const position of [-1, 0.5, Number.NaN, ...Array.from({ length: 62 }, (_, index) => index)]) {
          assert.equal(isItemWaiting(inbox, position), positions.includes(position));
        }
      }),
    ),
    cases(300),
  );
});

test('the waiting items are read in pages, each item once', () => {
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 5 }), (all, limit) =>
      play(all, (inbox, model) => {
        const read: number[] = [];
        for (let page = waitingPositions(inbox, -1, limit); page.length > 0;) {
          assert(page.length <= limit);
          read.push(...page);
          page = waitingPositions(inbox, page.at(-1) as number, limit);
        }
        assert.deepEqual(read, positionsOf(model));
      }),
    ),
    cases(100),
  );
});

test('a cursor grows with the gaps between the waiting items', () => {
  fc.assert(
    fc.property(moves, (all) =>
      play(all, (inbox, model) => {
        const waits = model.isWaiting.slice(inbox.first);
        const gaps = waits.filter((isWaiting, index) => !isWaiting && waits[index - 1] === true).length;
        assert.equal(inbox.gaps?.length ?? 0, gaps * 2);
      }),
    ),
    cases(100),
  );
  let inbox: InboxCursor | undefined;
  for (let count = 0; count < 10_000; count++) inbox = withItem(inbox, 1);
  expect(inbox).toEqual({ first: 0, next: 10_000, since: 1 });
});

test('a damaged item that stays costs one gap, however many items are enqueued and used', () => {
  let inbox = withItem(undefined, 0);
  for (let position = 1; position < 50_000; position++) inbox = withoutItems(withItem(inbox, 0), [position]);
  inbox = withItem(inbox, 0);
  expect(inbox).toEqual({ first: 0, next: 50_001, gaps: [1, 50_000], since: 0 });
  expect(waitingPositions(inbox, -1, 100)).toEqual([0, 50_000]);
});

test('the use of positions without waiting items changes nothing', () => {
  const inbox = withItem(undefined, 0);
  for (const positions of [[], [1], [-1], [0.5]]) expect(withoutItems(inbox, positions)).toBe(inbox);
});

test.each([
  { first: 2, next: 1 },
  { first: 0, next: 9, gaps: [3] },
  { first: 0, next: 9, gaps: [5, 3] },
  { first: 4, next: 9, gaps: [3, 5] },
  { first: 0, next: 9, gaps: [3, 10] },
])('a cursor with positions out of order is invalid: %j', (inbox) => {
  expect(isValidCursor(inbox)).toBe(false);
});
