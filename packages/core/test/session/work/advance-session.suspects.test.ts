import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  StoreUnavailableError,
} from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import type { RenewedClaim } from '@holdfast/core/store';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { settled } from '../../support/durable-world.ts';

const definition = { name: 'assistant' };
const LEASE = 30_000;

/** A store that can stop replying to renewals. */
class UnreliableStore extends MemorySessionStore {
  isDown = false;
  override async renew(...args: Parameters<MemorySessionStore['renew']>): Promise<RenewedClaim> {
    if (this.isDown) throw new StoreUnavailableError('down', { isAmbiguous: false });
    return super.renew(...args);
  }
}

/** Processes that work on the sessions of one store, and die on the way. */
function deployment() {
  const clock = manualClock(1_000_000);
  const store = new UnreliableStore({ clock });
  let started = 0;
  /** Each process before this one has died: its timers, and so its heartbeats, do nothing. */
  let firstAlive = 0;
  const workerWith = (driver: Driver): SessionRuntime => {
    const number = ++started;
    const own = {
      ...clock,
      newId: manualClock(number * 7).newId,
      after: (milliseconds: number, callback: () => void) =>
        clock.after(milliseconds, () => (number >= firstAlive ? callback() : undefined)),
    };
    const loop = createAgentLoop({ driver, clock: own });
    return new SessionRuntime({ store, clock: own, agents: { assistant: loop }, maxAttempts: 3 });
  };
  const worker = (...script: readonly ScriptedAnswer[]) => workerWith(scriptedDriver(...script));
  /** A process whose model does not respond to these sessions. */
  const hangingWorker = () => workerWith({ infer: () => new Promise(() => undefined) });
  /** A process that works on these sessions at the same time. */
  const dieOf = async (...sessionIds: readonly string[]): Promise<void> => {
    const dying = hangingWorker();
    for (const sessionId of sessionIds) void dying.advance(sessionId, { suspects: 'alone' });
    await settled();
  };
  /** Ends all processes, and waits until their claims have expired. */
  const restart = (): void => {
    firstAlive = started + 1;
    clock.advance(LEASE + 1);
  };
  const createAll = async (...sessionIds: readonly string[]): Promise<void> => {
    for (const sessionId of sessionIds) {
      await worker().create({ definition, sessionId });
      await worker().enqueue(sessionId, { type: 'message', content: 'Go.' });
    }
  };
  return { clock, store, worker, hangingWorker, dieOf, restart, createAll };
}

describe('after a death of a process with several sessions', () => {
  test('no number of deaths counts against a session that was not alone', async () => {
    const { store, worker, createAll, clock } = deployment();
    const ids = ['a', 'b', 'c'];
    await createAll(...ids);
    for (let death = 1; death <= 5; death++) {
      for (const id of ids) await store.claim(id, { workerId: `process ${death}`, leaseSeconds: 30 });
      clock.advance(LEASE + 1);
    }
    const survivor = worker('Done.', 'Done.', 'Done.');
    for (const id of ids) {
      expect(await survivor.advance(id)).toMatchObject({ outcome: { type: 'finished' } });
      expect((await survivor.get(id)).state.finalResponse).toBe('Done.');
    }
  });

  test('a process that works on others answers `isolate`, and runs the session once it works on none', async () => {
    const { worker, hangingWorker, dieOf, restart, createAll } = deployment();
    await createAll('suspect', 'other');
    await dieOf('suspect');
    restart();
    const busy = hangingWorker();
    void busy.advance('other');
    await settled();
    expect(await busy.advance('suspect')).toEqual({ outcome: { type: 'isolate' }, wake: [] });
    expect(await worker().advance('suspect', { suspects: 'refuse' })).toMatchObject({
      outcome: { type: 'isolate' },
    });
    expect(await worker('Done.').advance('suspect')).toMatchObject({ outcome: { type: 'finished' } });
  });

  test('a session that kills its process alone fails after maxAttempts, without another run', async () => {
    const { worker, dieOf, restart, createAll } = deployment();
    await createAll('poison');
    for (let death = 1; death <= 4; death++) {
      await dieOf('poison');
      restart();
    }
    expect(await worker().advance('poison')).toMatchObject({ outcome: { type: 'finished' } });
    const { state } = await worker().get('poison');
    expect(state.errors.map(({ code }) => code)).toContain('ATTEMPTS_EXHAUSTED');
  });

  test('a death does not count once the process has begun to work on another session', async () => {
    const { hangingWorker, dieOf, restart, createAll, store } = deployment();
    await createAll('suspect', 'other');
    await dieOf('suspect');
    for (let death = 1; death <= 2; death++) {
      restart();
      const dying = hangingWorker();
      void dying.advance('suspect');
      await settled();
      void dying.execute('other', sendMessage('Hello'), { waitSeconds: 60 });
      await settled();
    }
    restart();
    const { attempt } = await store.claim('suspect', { workerId: 'w', leaseSeconds: 30 });
    expect(attempt).toBe(1);
  });

  test('a death counts although the process refused another suspect session meanwhile', async () => {
    const { hangingWorker, dieOf, restart, createAll, store } = deployment();
    await createAll('poison', 'suspect');
    await dieOf('poison', 'suspect');
    for (let death = 1; death <= 2; death++) {
      restart();
      const dying = hangingWorker();
      void dying.advance('poison');
      expect((await dying.advance('suspect')).outcome).toEqual({ type: 'isolate' });
      await expect(dying.execute('no such session', sendMessage('Hello'))).rejects.toThrow('does not exist');
    }
    restart();
    const { attempt } = await store.claim('poison', { workerId: 'w', leaseSeconds: 30 });
    expect(attempt).toBe(3);
  });

  test('a death does not count when the store did not reply as the process began to work on another', async () => {
    const { hangingWorker, dieOf, restart, createAll, store, clock } = deployment();
    await createAll('suspect', 'other');
    await dieOf('suspect');
    for (let death = 1; death <= 2; death++) {
      restart();
      const dying = hangingWorker();
      void dying.advance('suspect');
      await settled();
      store.isDown = true;
      void dying.execute('other', sendMessage('Hello'), { waitSeconds: 60 });
      await settled();
      store.isDown = false;
      clock.advance(LEASE / 3);
      await settled();
    }
    restart();
    const { attempt } = await store.claim('suspect', { workerId: 'w', leaseSeconds: 30 });
    expect(attempt).toBe(1);
  });

  test('progress clears the suspicion', async () => {
    const { worker, dieOf, restart, createAll } = deployment();
    await createAll('suspect', 'other');
    await dieOf('suspect');
    restart();
    const step = { calls: { unknown: {} } };
    const alone = await worker(step, 'Not reached.').advance('suspect', { maxSteps: 1 });
    expect(alone).toMatchObject({ outcome: { type: 'yield' } });
    const beside = await worker('Done.').advance('suspect', { suspects: 'refuse' });
    expect(beside).toMatchObject({ outcome: { type: 'finished' } });
  });
});
