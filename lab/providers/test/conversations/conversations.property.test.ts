import { afterAll, beforeAll, expect, test } from 'vitest';
import { Arena } from '../../src/conversations/arena.ts';
import { described, type Finding } from '../../src/conversations/findings.ts';
import { arenaDriver, play, seedOf } from '../../src/conversations/play.ts';
import { KINDS, type Kind } from '../../src/conversations/kinds.ts';
import { IS_LONG } from '../../src/effort.ts';
import { strictServers } from '../../src/strict/index.ts';

/** The conversations that begin with each server: 400 requests, or 60,000 in `pnpm soak:providers`. */
const ROUNDS = IS_LONG ? 160 : 1;
/** `SEED=1` plays other conversations. */
const FIRST = Number(process.env['SEED'] ?? 0) * ROUNDS + 1;
/** `CONVERSATION=1407` plays this conversation only. */
const ONLY = process.env['CONVERSATION'];

/**
 * The refusals that only a repetition in another form mends, by server. Anything else is a defect: of the repair, or of the
 * table of providers.
 */
const MENDED: Readonly<Record<string, RegExp>> = {
  // Some servers demand the reasoning, and others refuse it.
  acme: /by strict\/reasoning-content,/,
  // The number is a setting of the server.
  vllm: /by vllm\/images,/,
  // A message of an earlier execution does not tell which server with this protocol made the items of its searches.
  'openai (stored)': /by openai-responses\/references,.* 'ws_/,
};

/** How often each kind occurs at least in a round. */
const LEAST = 2;

let arena: Arena;
const kinds = new Map<Kind, number>();
let requests = 0;
beforeAll(async () => {
  arena = await Arena.start();
});
afterAll(() => arena.stop());

const seeds = (server: number) =>
  ONLY === undefined
    ? Array.from({ length: ROUNDS }, (_, round) => seedOf(FIRST + round + (server % 2), server))
    : [Number(ONLY)].filter((seed) => seed % 100 === server);

const rows = strictServers().map(({ name }, server) => ({ name, server }));

test.each(rows)('$name refuses no history, whatever was said', async ({ server }) => {
  const driver = arenaDriver(arena);
  const findings: Finding[] = [];
  for (const seed of seeds(server)) {
    const played = await play(arena, driver, seed);
    findings.push(...played.findings);
    for (const kind of played.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    requests += played.requests;
  }
  const defects = findings.filter(
    (finding) => !finding.isHealed || MENDED[finding.server]?.test(described(finding)) !== true,
  );
  expect(defects.map(described)).toEqual([]);
});

test.skipIf(ONLY !== undefined)(
  'the conversations have many requests, and all kinds of odd answers and events',
  () => {
    expect(requests).toBeGreaterThan(IS_LONG ? 50_000 : 300);
    const rare = KINDS.filter((kind) => (kinds.get(kind) ?? 0) < LEAST * ROUNDS);
    expect(rare).toEqual([]);
  },
);
