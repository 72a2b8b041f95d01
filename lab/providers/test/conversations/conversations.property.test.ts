import { afterAll, beforeAll, expect, test } from 'vitest';
import { Arena } from '../../src/conversations/arena.ts';
import { described, type Finding } from '../../src/conversations/findings.ts';
import { arenaDriver, play, seedOf } from '../../src/conversations/play.ts';
import { IS_LONG } from '../../src/effort.ts';
import { strictServers } from '../../src/strict/index.ts';

/** The conversations that begin with each server: 400 requests, or 60,000 in `pnpm soak:providers`. */
const ROUNDS = IS_LONG ? 160 : 1;
/** `CONVERSATION=1407` plays this conversation only. */
const ONLY = process.env['CONVERSATION'];

/**
 * The refusals that only a repetition in the strictest form mends, by server and rule. Anything else is a defect: of the
 * repair, or of the table of providers.
 */
const MENDED: Readonly<Record<string, readonly string[]>> = {
  // Some servers demand the reasoning, and others refuse it.
  acme: ['strict/reasoning-content'],
  // The number is a setting of the server.
  vllm: ['vllm/images'],
};

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.start();
});
afterAll(() => arena.stop());

const seeds = (server: number) =>
  ONLY === undefined
    ? Array.from({ length: ROUNDS }, (_, round) => seedOf(round + 1 + (server % 2), server))
    : [Number(ONLY)].filter((seed) => seed % 100 === server);

const rows = strictServers().map(({ name }, server) => ({ name, server }));

test.each(rows)('$name refuses no history, whatever was said', async ({ server }) => {
  const driver = arenaDriver(arena);
  const findings: Finding[] = [];
  for (const seed of seeds(server)) findings.push(...(await play(arena, driver, seed)).findings);
  const defects = findings.filter(
    ({ server: name, rule, isHealed }) => !isHealed || !MENDED[name]?.includes(rule),
  );
  expect(defects.map(described)).toEqual([]);
});
