import { setTimeout } from 'node:timers/promises';
import { newSession } from '@holdfast/conformance';
import { hasErrorCode, SessionRuntime, type SessionAction } from '@holdfast/core';
import { expect, test } from 'vitest';
import { isLogRead } from './support/stored-items.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();

const increment: SessionAction = async (session, { clock }) => {
  const { state } = session;
  const count = state.metadata.get<number>('count') ?? 0;
  return session.withState(state.withMetadata('count', count + 1, clock.now()));
};

/** Increments a counter, and retries each conflict. Returns the number of conflicts. */
async function countUp(runtime: SessionRuntime, times: number): Promise<number> {
  let conflicts = 0;
  let inARow = 0;
  for (let done = 0; done < times;) {
    try {
      await runtime.execute('counter', increment);
      done += 1;
      inARow = 0;
    } catch (error) {
      if (!hasErrorCode(error, 'SESSION_BUSY') && !hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
      conflicts += 1;
      inARow += 1;
      // Clients of a contended record must wait a random time, so that they do not retry at the same time.
      await setTimeout(Math.random() * Math.min(2_000, 20 * 2 ** inARow));
    }
  }
  return conflicts;
}

test('50 writers that count to 5 count to 250', async () => {
  const table = await database.newTable();
  const runtimes = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const store = await database.newStore({ table, compactAfterSaves: 5 });
      return new SessionRuntime({ store, agents: {} });
    }),
  );
  const [runtime] = runtimes;
  if (runtime === undefined) throw new Error('The runtime is missing.');
  await runtime.store.create(newSession('counter'));
  const conflicts = await Promise.all(runtimes.map((each) => countUp(each, 5)));
  const session = await runtime.get('counter');
  expect(session.state.metadata.get('count')).toBe(250);
  expect(session.version).toBe(251);
  expect(Math.max(...conflicts)).toBeGreaterThan(0);
});

test('of 8 workers that claim at the same time, exactly one succeeds', async () => {
  const table = await database.newTable();
  const stores = await Promise.all(Array.from({ length: 8 }, () => database.newStore({ table })));
  const store = await database.newStore({ table });
  await store.create(newSession('a'));
  for (let round = 1; round <= 5; round++) {
    const claims = await Promise.allSettled(
      stores.map((each, index) => each.claim('a', { workerId: `${round}/${index}`, leaseSeconds: 60 })),
    );
    const won = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value.claim] : []));
    expect(won).toMatchObject([{ epoch: round }]);
    const released = await Promise.all(won.map((claim) => store.release(claim)));
    expect(released).toEqual([true]);
  }
});

test('a claim reads a session once, although many items are enqueued during it', async () => {
  const table = await database.newTable();
  const [store, other] = [await database.newStore({ table }), await database.newStore({ table })];
  const created = await store.create(newSession('a'));
  let count = 0;
  database.proxy.fault = async (request, forward) => {
    const reply = await forward();
    if (isLogRead(request) && count < 5) await other.enqueue('a', { id: String(++count), content: 1 });
    return reply;
  };
  const { session, inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  database.proxy.fault = undefined;
  expect([session.state, inbox.map(({ id }) => id), count]).toEqual([created.state, ['1'], 1]);
});

test('8 writers that enqueue at the same time all succeed, each item once', async () => {
  const table = await database.newTable();
  const stores = await Promise.all(Array.from({ length: 8 }, () => database.newStore({ table })));
  const store = await database.newStore({ table });
  await store.create(newSession('a'));
  const ids = Array.from({ length: 40 }, (_, index) => `item ${index % 20}`);
  const answers = await Promise.all(
    stores.flatMap((each, first) =>
      ids.filter((_, index) => index % 8 === first).map((id) => each.enqueue('a', { id, content: id })),
    ),
  );
  expect(answers.filter(Boolean)).toHaveLength(20);
  const { inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
  expect(new Set(inbox.map(({ id }) => id)).size).toBe(20);
});
