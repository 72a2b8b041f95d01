import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  StoreUnavailableError,
  tool,
  type SessionEvent,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import type { AdvanceResult } from '@holdfast/core/engine';
import type { RenewedClaim } from '@holdfast/core/store';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { settled } from '../../support/durable-world.ts';

const definition = { name: 'reader' };
const go = { type: 'message', content: 'Go.' } as const;
const read = { calls: { read: {} } };
const THIRD = 10_000;
/** The claim looks at the clock so often. */
const TICK = THIRD / 4;

class Store extends MemorySessionStore {
  isDown = false;
  override async renew(...args: Parameters<MemorySessionStore['renew']>): Promise<RenewedClaim> {
    if (this.isDown) throw new StoreUnavailableError('down', { isAmbiguous: true });
    return super.renew(...args);
  }
}

/** A process whose event loop can stand still: the time passes, and no timer fires. */
function host() {
  const timers = manualClock(1_000_000);
  let passed = 0;
  const clock = { ...timers, now: () => timers.now() + passed };
  const store = new Store({ clock });
  const events: SessionEvent[] = [];
  const runtimeOf = (script: readonly ScriptedAnswer[], act: () => unknown = () => '3 pages') => {
    const tools = [
      tool({
        name: 'read',
        description: 'Reads.',
        inputSchema: { type: 'object' },
        effect: 'readOnly',
        execute: async () => act(),
      }),
    ];
    const reader = createAgentLoop({ driver: scriptedDriver(...script), tools, clock });
    const onSessionEvent = (event: SessionEvent) => void events.push(event);
    return new SessionRuntime({ store, clock, agents: { reader }, maxAttempts: 2, onSessionEvent });
  };
  const pass = (milliseconds: number) => void (passed += milliseconds);
  /** Fires the timer that was next when the event loop stopped. */
  const wake = async () => {
    timers.advance(TICK);
    await settled();
  };
  const standstills = () =>
    events.flatMap((event) => (event.type === 'worker-stood-still' ? [event.error.data] : []));
  return { store, runtimeOf, pass, wake, standstills };
}

async function isRefused(runtime: SessionRuntime, sessionId: string): Promise<boolean> {
  return (await runtime.advance(sessionId, { suspects: 'refuse', maxSteps: 1 })).outcome.type === 'isolate';
}
const attemptsOf = async (store: Store, sessionId: string): Promise<number> =>
  (await store.inspect(sessionId)).attempt;

describe('a worker that stood still for more than a third of a lease', () => {
  test.each([
    ['more', THIRD + 1, true],
    ['not more', THIRD, false],
  ])('has a suspect session exactly then: %s', async (_, milliseconds, isSuspect) => {
    const { store, runtimeOf, pass, wake, standstills } = host();
    const response = deferred<ScriptedAnswer>();
    const runtime = runtimeOf([() => response.promise, 'Done.']);
    await runtime.create({ definition, sessionId: 's' });
    await runtime.enqueue('s', go);
    const working = runtime.advance('s', { suspects: 'refuse' });
    await settled();
    pass(milliseconds);
    await wake();
    response.resolve('Done.');
    expect((await working).outcome.type).toBe(isSuspect ? 'yield' : 'finished');
    expect(standstills()).toEqual(isSuspect ? [{ sessionId: 's', seconds: milliseconds / 1000 }] : []);
    await runtime.enqueue('s', go);
    expect(await isRefused(runtime, 's')).toBe(isSuspect);
    expect(await attemptsOf(store, 's')).toBe(isSuspect ? 1 : 0);
  });

  test('tells the store at the release when no timer could fire before it', async () => {
    const { runtimeOf, pass } = host();
    const runtime = runtimeOf([read, 'Done.', 'Done.'], () => pass(THIRD * 3));
    await runtime.create({ definition, sessionId: 's' });
    await runtime.enqueue('s', go);
    const { outcome } = await runtime.advance('s', { suspects: 'refuse', maxSteps: 1 });
    expect(outcome.type).toBe('yield');
    expect(await isRefused(runtime, 's')).toBe(true);
    expect((await runtime.advance('s', { suspects: 'alone', maxSteps: 1 })).outcome.type).toBe('finished');
    await runtime.enqueue('s', go);
    expect(await isRefused(runtime, 's')).toBe(false); // the work alone went well
  });

  test('tells the store at the release what a failed renewal could not tell', async () => {
    const { store, runtimeOf, pass, wake } = host();
    const response = deferred<ScriptedAnswer>();
    const runtime = runtimeOf([() => response.promise]);
    await runtime.create({ definition, sessionId: 's' });
    await runtime.enqueue('s', go);
    const working = runtime.advance('s');
    await settled();
    pass(THIRD + 1);
    store.isDown = true;
    await wake();
    response.resolve('Done.');
    await working;
    await runtime.enqueue('s', go);
    expect(await isRefused(runtime, 's')).toBe(true);
  });

  test('lets a call of `execute` end as usual', async () => {
    const { runtimeOf, pass, wake } = host();
    const runtime = runtimeOf([async () => (pass(THIRD * 1.5), await wake(), 'Done.'), 'Done again.']);
    await runtime.create({ definition, sessionId: 's' });
    const { state } = await runtime.execute('s', sendMessage('Go.'));
    expect(state.finalResponse).toBe('Done.');
    await runtime.enqueue('s', go);
    expect(await isRefused(runtime, 's')).toBe(true);
  });

  test('makes all its sessions suspects, and none of them an attempt', async () => {
    const { store, runtimeOf, pass, wake, standstills } = host();
    const responses = [deferred<ScriptedAnswer>(), deferred<ScriptedAnswer>()];
    const runtime = runtimeOf([
      ...responses.map(
        ({ promise }) =>
          () =>
            promise,
      ),
      'Done.',
      'Done.',
      'Done.',
      'Done.',
    ]);
    const ids = ['one', 'two'];
    for (const sessionId of ids) {
      await runtime.create({ definition, sessionId });
      await runtime.enqueue(sessionId, go);
    }
    const working = ids.map((id) => runtime.advance(id, { suspects: 'refuse' }));
    await settled();
    pass(3_600_000); // the whole machine was suspended
    await wake();
    for (const { resolve } of responses) resolve('Unread.');
    expect((await Promise.all(working)).map(({ outcome }) => outcome.type)).toEqual(['yield', 'yield']);
    expect(standstills()).toHaveLength(2);
    for (const id of ids) {
      expect(await attemptsOf(store, id)).toBe(1);
      expect(await isRefused(runtime, id)).toBe(true);
      expect((await runtime.advance(id, { suspects: 'alone', maxSteps: 1 })).outcome.type).toBe('finished');
      expect(await attemptsOf(store, id)).toBe(0);
    }
  });
});

describe('a session that stops the event loop again and again', () => {
  /** Advances as an engine does: beside others first, and alone when the session is suspect. */
  async function untilEnded(runtime: SessionRuntime, next: () => void, most = 20): Promise<string[]> {
    const policies: string[] = [];
    let suspects: 'alone' | 'refuse' = 'refuse';
    for (let turn = 0; turn < most; turn++) {
      policies.push(suspects);
      const { outcome }: AdvanceResult = await runtime.advance('s', { suspects, maxSteps: 1 });
      if (outcome.type === 'finished') break;
      suspects = outcome.type === 'isolate' ? 'alone' : 'refuse';
      if ('until' in outcome) next();
    }
    return policies;
  }

  test('works alone, and its execution fails after `maxAttempts` without progress', async () => {
    const { runtimeOf, pass } = host();
    const block = (): never => {
      pass(THIRD * 1.5);
      throw new DriverError('overloaded', 'A text that takes long to read.', { retryAfterSeconds: 120 });
    };
    const runtime = runtimeOf(Array.from({ length: 19 }, () => block));
    await runtime.create({ definition, sessionId: 's' });
    await runtime.enqueue('s', go);
    const policies = await untilEnded(runtime, () => pass(120_000));
    const { state } = await runtime.get('s');
    expect([state.status, state.errors[0]?.code]).toEqual(['failed', 'ATTEMPTS_EXHAUSTED']);
    expect(policies).toEqual(['refuse', 'refuse', 'alone', 'refuse', 'alone', 'refuse', 'alone']);
  });

  test('works alone while it makes progress, and never fails for that', async () => {
    const { runtimeOf, pass } = host();
    const runtime = runtimeOf([...Array.from({ length: 6 }, () => read), 'Done.'], () => pass(THIRD * 1.5));
    await runtime.create({ definition, sessionId: 's' });
    await runtime.enqueue('s', go);
    const policies = await untilEnded(runtime, () => undefined);
    expect((await runtime.get('s')).state.finalResponse).toBe('Done.');
    expect(policies.filter((policy) => policy === 'alone')).toHaveLength(6);
  });
});

test('a blocked event loop of a real process is noticed', async () => {
  const store = new MemorySessionStore();
  const events: SessionEvent[] = [];
  const response = deferred<ScriptedAnswer>();
  const reader = createAgentLoop({ driver: scriptedDriver(() => response.promise, 'Done.') });
  const noticed = deferred<undefined>();
  const onSessionEvent = (event: SessionEvent): void => {
    events.push(event);
    if (event.type === 'worker-stood-still') noticed.resolve(undefined);
  };
  const runtime = new SessionRuntime({ store, agents: { reader }, leaseSeconds: 0.9, onSessionEvent });
  await runtime.create({ definition, sessionId: 's' });
  await runtime.enqueue('s', go);
  const working = runtime.advance('s', { suspects: 'refuse' });
  await settled();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  await noticed.promise;
  response.resolve('Unread.');
  expect((await working).outcome.type).toBe('yield');
  expect(await isRefused(runtime, 's')).toBe(true);
});
