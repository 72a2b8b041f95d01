import assert from 'node:assert/strict';
import { AgentSession, MemorySessionStore } from '@holdfast/core';
import type { InboxItem } from '@holdfast/core/store';
import { manualClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';

const LEASE = { workerId: 'worker', leaseSeconds: 60 };
const LIMIT = 130;
const REMEMBERED = 16;

/** So many items come in, one comes in again, or a worker uses some of what it finds. */
const moves = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('enqueue' as const), count: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ type: fc.constant('again' as const), back: fc.nat(18), isWaiting: fc.boolean() }),
    fc.record({
      type: fc.constant('use' as const),
      after: fc.nat(30),
      every: fc.integer({ min: 1, max: 4 }),
    }),
  ),
  { maxLength: 25, size: 'max' },
);

test('an inbox is a bounded queue without duplicates, after any enqueues and uses', async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (all) => {
      const clock = manualClock(1_000_000);
      const store = new MemorySessionStore({ clock, maxInboxItems: LIMIT });
      let session = await store.create(AgentSession.create({ definition: { name: 'tester' }, clock }));
      const { sessionId } = session;
      let waiting: Pick<InboxItem, 'id' | 'position'>[] = [];
      const used: string[] = [];
      let [position, ids] = [0, 0];

      const enqueue = async (id: string): Promise<void> => {
        const isRemembered = used.slice(-REMEMBERED).includes(id);
        const isKnown = isRemembered || waiting.some((item) => item.id === id);
        if (!isKnown && waiting.length === LIMIT) {
          await assert.rejects(store.enqueue(sessionId, { id, content: id }), { code: 'INBOX_FULL' });
          return;
        }
        assert.equal(await store.enqueue(sessionId, { id, content: id }), !isKnown);
        if (!isKnown) waiting.push({ id, position: position++ });
      };

      for (const move of all) {
        if (move.type === 'enqueue')
          for (let count = 0; count < move.count; count++) await enqueue(`i${ids++}`);
        else if (move.type === 'again') {
          const known = move.isWaiting ? waiting.map(({ id }) => id) : used;
          await enqueue(known.at(-1 - move.back) ?? 'i0');
        } else {
          const { claim } = await store.claim(sessionId, { ...LEASE, base: session });
          const page = await store.renew(claim, { ...LEASE, after: move.after - 1 });
          const expected = waiting.filter((item) => item.position >= move.after).slice(0, 100);
          assert.deepEqual(
            page.inbox.map((item) => ({ id: item.id, position: item.position })),
            expected,
          );
          const acknowledge = page.inbox.filter((_, index) => index % move.every === 0);
          session = await store.save(session, { base: session, epoch: claim.epoch, acknowledge });
          await store.release(claim);
          const positions = new Set(acknowledge.map((item) => item.position));
          waiting = waiting.filter((item) => !positions.has(item.position));
          used.push(...acknowledge.map(({ id }) => id));
        }
        const due = (await store.due()).sessions.map((one) => one.sessionId);
        assert.deepEqual(due, waiting.length > 0 ? [sessionId] : []);
      }
    }),
    cases(60),
  );
});
