import { MemorySessionStore } from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { definition, world } from '../../support/durable-world.ts';

/** Sessions with a stop in their inbox; every second one is claimed for 30 seconds. */
async function dueSessions(count: number) {
  const made = world();
  const runtime = made.process([]);
  for (let i = 0; i < count; i++) {
    const { sessionId } = await runtime.create({ definition, sessionId: `s${i}` });
    await runtime.enqueue(sessionId, { type: 'stop' });
    if (i % 2 === 0) await made.store.claim(sessionId, { workerId: 'other', leaseSeconds: 30 });
  }
  const woken: string[] = [];
  const engine = () => ({ wake: async (id: string) => void woken.push(id) });
  return { ...made, runtime, woken, engine };
}

describe('a sweep', () => {
  test('wakes each of many due sessions once, over all pages, but for those that are claimed', async () => {
    const { store, clock, woken, engine } = await dueSessions(250);
    expect(await sweep(store, engine())).toEqual({ woken: 125, skipped: 0, unreadable: 0 });
    expect(new Set(woken).size).toBe(125);
    clock.advance(30_000);
    expect(await sweep(store, engine())).toMatchObject({ woken: 125 }); // the claims of the others expired
    expect(new Set(woken).size).toBe(250);
  });

  test('does not wake a session again before its time, unless the session was claimed or got an item', async () => {
    const { store, clock, engine, runtime } = await dueSessions(4);
    const again = { againAfterSeconds: 20 };
    expect(await sweep(store, engine(), again)).toMatchObject({ woken: 2 });
    expect(await sweep(store, engine(), again)).toMatchObject({ woken: 0 });
    await runtime.enqueue('s1', { type: 'stop', reason: 'Once more.' });
    expect(await sweep(store, engine(), again)).toMatchObject({ woken: 1 });
    clock.advance(20_000);
    expect(await sweep(store, engine(), again)).toMatchObject({ woken: 2 });
  });

  test('shares the work with other sweeps: of eight, one wakes each of 2,000 sessions', async () => {
    const { store, woken, engine } = await dueSessions(4_000);
    const results = await Promise.all(Array.from({ length: 8 }, () => sweep(store, engine())));
    expect(woken).toHaveLength(2_000);
    expect(new Set(woken).size).toBe(2_000);
    expect(results.reduce((sum, result) => sum + result.woken, 0)).toBe(2_000);
  });

  test('never overlaps with itself: a second call has the result of the first', async () => {
    const { store, woken, engine } = await dueSessions(20);
    const one = engine();
    const [first, second] = await Promise.all([sweep(store, one), sweep(store, one)]);
    expect(second).toBe(first);
    expect(woken).toHaveLength(10);
  });

  test('wakes only sessions that have been due for long enough, and no more than its limit', async () => {
    const { store, clock, engine } = await dueSessions(20);
    expect(await sweep(store, engine(), { dueForSeconds: 10 })).toMatchObject({ woken: 0 });
    clock.advance(10_000);
    expect(await sweep(store, engine(), { dueForSeconds: 10, limit: 4 })).toMatchObject({ woken: 4 });
    expect(await sweep(store, engine(), { dueForSeconds: 10 })).toMatchObject({ woken: 6 });
  });

  test('ends before the next session when its signal aborts', async () => {
    const { store } = await dueSessions(20);
    const controller = new AbortController();
    const engine = { wake: async () => controller.abort() };
    expect(await sweep(store, engine, { signal: controller.signal })).toMatchObject({ woken: 1 });
  });

  test.each([
    { dueForSeconds: -1 },
    { againAfterSeconds: 0 },
    { limit: 0 },
    { signal: 'now' },
    { dueFor: 5 },
  ])('refuses %o', async (options) => {
    const engine = { wake: async () => undefined };
    await expect(sweep(new MemorySessionStore(), engine, options as never)).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
  });
});
