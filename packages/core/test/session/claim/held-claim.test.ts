import { MemorySessionStore, sendMessage, StoreUnavailableError, type AgentSession } from '@holdfast/core';
import type { RenewedClaim } from '@holdfast/core/store';
import { manualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { call, definition, settled, world } from '../../support/durable-world.ts';

describe('claims', () => {
  test.each([
    ['afterLoad', 1],
    ['beforeSave', 1],
    ['beforeSave', 2],
    ['beforeSave', 3],
    ['afterAction', 1],
  ] as const)('are released when the hook %s throws in its call %i', async (hook, time) => {
    const made = world();
    let count = 0;
    const throwing = {
      [hook]: () => {
        if (++count === time) throw new Error('hook');
      },
    };
    const runtime = made.process([call(1), 'Done.'], { hooks: throwing });
    const { sessionId } = await made.process([]).create({ definition });
    await expect(runtime.execute(sessionId, sendMessage('Go.'))).rejects.toThrow('hook');
    const { attempt } = await made.store.claim(sessionId, { workerId: 'other', leaseSeconds: 1 });
    expect(attempt).toBe(1);
  });

  test('that expired while the store was down are valid again when no other worker has claimed the session', async () => {
    class Store extends MemorySessionStore {
      isDown = false;
      override async renew(...args: Parameters<MemorySessionStore['renew']>): Promise<RenewedClaim> {
        if (this.isDown) throw new StoreUnavailableError('down', { isAmbiguous: false });
        return super.renew(...args);
      }
    }
    const made = world();
    const store = new Store({ clock: made.clock });
    const answer = deferred<ScriptedAnswer>();
    const runtime = made.process([() => answer.promise, 'Done.'], { store });
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    await settled();
    store.isDown = true;
    for (let beat = 0; beat < 5; beat++) {
      made.clock.advance(10_000);
      await settled();
    }
    store.isDown = false;
    answer.resolve(call(1));
    expect([(await running).state.finalResponse, made.calls.length]).toEqual(['Done.', 1]);
  });

  test.each(['down', 'taken'] as const)(
    'that the store cannot confirm (%s) let no tool with effects start',
    async (how) => {
      class Store extends MemorySessionStore {
        isDown = false;
        override async renew(...args: Parameters<MemorySessionStore['renew']>): Promise<RenewedClaim> {
          if (this.isDown) throw new StoreUnavailableError('down', { isAmbiguous: false });
          return super.renew(...args);
        }
        override async save(...args: Parameters<MemorySessionStore['save']>): Promise<AgentSession> {
          const saved = await super.save(...args);
          if (saved.state.currentStep?.toolExecutions.length) frozen(this);
          return saved;
        }
      }
      /** The process stands still, after its intent was kept, for longer than its claim lasts. */
      const frozen = (store: Store): void => {
        store.isDown = true;
        made.clock.advance(40_000);
        store.isDown = how === 'down';
      };
      const made = world();
      const store = new Store({ clock: made.clock });
      const runtime = made.process([call(1), 'Never.'], {
        store,
        hooks: {
          afterSave: async ({ state, sessionId }) => {
            if (how === 'taken' && state.currentStep?.toolExecutions.length)
              await store.claim(sessionId, { workerId: 'other', leaseSeconds: 30 });
          },
        },
      });
      const { sessionId } = await runtime.create({ definition });
      await expect(runtime.execute(sessionId, sendMessage('Go.'))).rejects.toMatchObject({
        code: how === 'down' ? 'STORE_UNAVAILABLE' : 'SESSION_CONFLICT',
      });
      expect(made.calls).toEqual([]);
    },
  );

  test('are renewed before a tool with effects when the clock has gone back', async () => {
    const made = world();
    let back = 0;
    let renewals = 0;
    class Store extends MemorySessionStore {
      override async renew(...args: Parameters<MemorySessionStore['renew']>): Promise<RenewedClaim> {
        renewals++;
        return super.renew(...args);
      }
    }
    const store = new Store({ clock: made.clock });
    const script: ScriptedAnswer[] = [() => ((back = 3_600_000), call(1)), 'Done.'];
    const ids = manualClock(99);
    const clock = { ...made.clock, newId: ids.newId, now: () => made.clock.now() - back };
    const runtime = made.process(script, { store, clock });
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('Go.'));
    expect([made.calls.length, renewals]).toEqual([1, 1]);
  });
});

test('a step with one tool that has effects costs two saves, and a run one claim and one release', async () => {
  const made = world();
  const counts = new Map<string, number>();
  const store = new Proxy(made.store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        counts.set(String(name), (counts.get(String(name)) ?? 0) + 1);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
  const runtime = made.process([call(1), call(2), call(3), 'Done.'], { store });
  const { sessionId } = await runtime.create({ definition });
  counts.clear();
  await runtime.execute(sessionId, sendMessage('Go.'));
  expect(Object.fromEntries(counts)).toEqual({ claim: 1, save: 1 + 3 * 2 + 1, release: 1 });
});
