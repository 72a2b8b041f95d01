import { afterAll, beforeAll, expect, test } from 'vitest';
import { Arena } from '../../src/conversations/arena.ts';
import { play, seedOf } from '../../src/conversations/play.ts';
import { driverWithout, removals } from './removals.ts';

/** The conversations in which each refusal must occur: it occurs in the first ones of them. */
const ROUNDS = 60;

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.start();
});
afterAll(() => arena.stop());

test.each(removals)('without the repair: %s', async (_, removal) => {
  const driver = driverWithout(removal, arena);
  const server = arena.profiles.findIndex(({ name }) => name === removal.server);
  const found = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    const { findings } = await play(arena, driver, seedOf(round, server));
    for (const { rule } of findings) found.add(rule);
    if ([...found].some((rule) => removal.rule.test(rule))) break;
  }
  expect([...found]).toContainEqual(expect.stringMatching(removal.rule));
});
