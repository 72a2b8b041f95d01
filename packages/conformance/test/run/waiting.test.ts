import { expect, test } from 'vitest';
import { Waiting } from '../../src/run/waiting.ts';

/** Waits for an event that happens in the given turn, and returns the turns that it waited for. */
async function turnsUntil(waiting: Waiting, turn: number): Promise<number> {
  let turns = 0;
  await waiting.until('the event', () => ++turns === turn).catch(() => undefined);
  return turns;
}

test('a case waits for 500 turns of the event loop', async () => {
  const waiting = new Waiting({}, 0);
  await expect(turnsUntil(waiting, 500)).resolves.toBe(500);
  await expect(turnsUntil(waiting, 501)).resolves.toBe(500);
  await expect(waiting.until('the event', () => false)).rejects.toThrow(
    'Expected, but did not happen: the event.',
  );
});

test('a case whose turns take time waits for more than 500 turns, because a busy machine delays events', async () => {
  await expect(turnsUntil(new Waiting({ turnMilliseconds: 1 }, 0), 600)).resolves.toBe(600);
  await expect(turnsUntil(new Waiting({}, 1), 600)).resolves.toBe(600);
  await expect(turnsUntil(new Waiting({ turnMilliseconds: 1, waitSeconds: 0 }, 0), 600)).resolves.toBe(500);
});
