import {
  changeModel,
  MemorySessionStore,
  RunAbort,
  sendMessage,
  StoreUnavailableError,
  type AgentSession,
  type SessionRuntimeOptions,
} from '@holdfast/core';
import { StoreThrottledError, type SaveOptions } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import {
  call,
  definition,
  outcomes,
  settled,
  takeOver,
  world,
  type World,
} from '../../support/durable-world.ts';

const LEASE = 30_000;
/** When the session is created, and its call returns. */
const START = 1_000_000;

interface SaveAttempt {
  readonly at: number;
  readonly operationId: string | undefined;
}

/** `done`: the first save was done, and its reply was lost. `throttled`: the saves fail, and claims are renewed. */
type Outage = 'unavailable' | 'throttled' | 'ambiguous' | 'done';

/** A store that fails for some time. */
class FailingStore extends MemorySessionStore {
  downUntil = 0;
  readonly attempts: SaveAttempt[] = [];
  private readonly world: World;
  private readonly outage: Outage;

  constructor(made: World, outage: Outage) {
    super({ clock: made.clock });
    this.world = made;
    this.outage = outage;
  }

  get isDown(): boolean {
    return this.world.clock.now() < this.downUntil;
  }

  override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
    if (!this.isDown) return super.save(session, options);
    this.attempts.push({ at: this.world.clock.now(), operationId: options?.operationId });
    if (this.outage === 'done' && this.attempts.length === 1) await super.save(session, options);
    throw this.error();
  }

  override async renew(...args: Parameters<MemorySessionStore['renew']>) {
    if (this.isDown && this.outage !== 'throttled') throw this.error();
    return super.renew(...args);
  }

  override async release(...args: Parameters<MemorySessionStore['release']>) {
    if (this.isDown && this.outage !== 'throttled') throw this.error();
    return super.release(...args);
  }

  private error(): Error {
    if (this.outage === 'throttled') return new StoreThrottledError('slow down');
    return new StoreUnavailableError('down', { isAmbiguous: this.outage !== 'unavailable' });
  }
}

interface Down {
  readonly made: World;
  readonly store: FailingStore;
  readonly sessionId: string;
  /** The result of the work, or its error. */
  readonly result: Promise<unknown>;
  /** Advances the clock until the work is over. */
  readonly elapse: () => Promise<unknown>;
}

interface DownOptions extends Partial<SessionRuntimeOptions> {
  readonly outage?: Outage;
  readonly signal?: AbortSignal;
}

/** A session whose store fails from the moment when a call of the effect `once` has returned. */
async function downAfterCall(
  seconds: number,
  { outage = 'unavailable', signal, ...options }: DownOptions = {},
): Promise<Down> {
  const made: World = world({
    effect: 'once',
    act: () => {
      store.downUntil = made.clock.now() + seconds * 1_000;
      return 'paid';
    },
  });
  const store = new FailingStore(made, outage);
  const runtime = made.process([call(5), 'Done.'], { store, ...options });
  const { sessionId } = await runtime.create({ definition });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Pay 5.' });
  const over = { isOver: false };
  const work = runtime.advance(sessionId, signal ? { signal } : {});
  const result = work.catch((error: unknown) => error).finally(() => (over.isOver = true));
  const elapse = async (): Promise<unknown> => {
    for (await settled(); !over.isOver; await settled()) made.clock.advance(10);
    return result;
  };
  return { made, store, sessionId, result, elapse };
}

/** Another process after the lease, and the session as it leaves it. */
async function afterwards({ made, store, sessionId }: Down): Promise<AgentSession> {
  takeOver({ clock: made.clock, store });
  const runtime = made.process(['Done.'], { store });
  await runtime.advance(sessionId);
  return runtime.get(sessionId);
}

describe('a save under a claim', () => {
  test.each<readonly [number, Outage]>([
    [3.5, 'unavailable'],
    [20, 'unavailable'],
    [20, 'ambiguous'],
    [20, 'done'],
    [20, 'throttled'],
  ])('keeps the outcome of a "once" call over an outage of %d s (%s)', async (seconds, outage) => {
    const down = await downAfterCall(seconds, { outage });
    expect(await down.elapse()).toMatchObject({ outcome: { type: 'finished' } });
    const session = await down.made.process([], { store: down.store }).get(down.sessionId);
    expect([outcomes(session), down.made.calls.length, session.state.finalResponse]).toEqual([
      [['succeeded', 1]],
      1,
      'Done.',
    ]);
    expect(new Set(down.store.attempts.map(({ operationId }) => operationId)).size).toBe(1);
    expect(down.made.events.filter(({ type }) => type === 'session-conflict')).toEqual([]);
    expect(down.made.clock.now() - down.store.downUntil).toBeLessThanOrEqual(2_000);
  });

  test('is given up before the lease ends, and the call is then in doubt', async () => {
    const down = await downAfterCall(LEASE / 1_000 + 5);
    expect(await down.elapse()).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const times = down.store.attempts.map(({ at }) => at - START);
    expect(times[0]).toBe(0);
    expect(times.at(-1)).toBeGreaterThan(LEASE - 2_000);
    expect(times.at(-1)).toBeLessThan(LEASE);
    const session = await afterwards(down);
    expect([outcomes(session), down.made.calls.length]).toEqual([[['interrupted', 1]], 1]);
  });

  test('is repeated after growing pauses with jitter, of at most 2 s', async () => {
    const { store, elapse } = await downAfterCall(LEASE / 1_000);
    await elapse();
    const times = store.attempts.map(({ at }) => at);
    const pauses = times.slice(1).map((at, index) => at - (times[index] as number));
    for (const [index, milliseconds] of pauses.entries()) {
      const longest = Math.min(100 * 2 ** index, 2_000);
      expect(milliseconds).toBeGreaterThanOrEqual(longest / 2);
      expect(milliseconds).toBeLessThanOrEqual(longest + 10); // the test advances its clock by 10 ms
    }
    expect(pauses.length).toBeGreaterThan(15);
  });

  test('is not cut short by a yield', async () => {
    const leaving = new AbortController();
    const down = await downAfterCall(20, { signal: leaving.signal });
    await settled();
    expect(down.store.attempts).toHaveLength(1);
    leaving.abort(new RunAbort('yield'));
    expect(await down.elapse()).toMatchObject({ outcome: { type: 'yield' } });
    const session = await afterwards(down);
    expect([outcomes(session), down.made.calls.length]).toEqual([[['succeeded', 1]], 1]);
  });

  test('ends when a heartbeat finds that the session is gone', async () => {
    const down = await downAfterCall(20, { outage: 'throttled' });
    await settled();
    const { made, store, sessionId } = down;
    await store.delete(sessionId);
    expect(await down.elapse()).toMatchObject({ outcome: { type: 'finished' } });
    expect(made.clock.now()).toBeLessThan(START + LEASE / 3 + 2_000);
  });

  test('to a store that was closed is attempted once', async () => {
    const made = world({ act: () => made.store.close() });
    const runtime = made.process([call(1), 'Never.']);
    const { sessionId } = await runtime.create({ definition });
    let failed: unknown;
    void runtime.execute(sessionId, sendMessage('Go.')).catch((error: unknown) => (failed = error));
    for (let turn = 0; turn < 5; turn++) await settled();
    expect(failed).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('closed') });
  });

  test('is attempted three times when the lease is over already', async () => {
    const down = await downAfterCall(120, { leaseSeconds: 0.01 });
    expect(await down.elapse()).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(down.store.attempts).toHaveLength(3);
  });

  test('ends when the clock goes back', async () => {
    const made = world({ effect: 'once', act: () => (store.downUntil = Infinity) });
    const store = new FailingStore(made, 'unavailable');
    let back = 0;
    const clock = { ...made.clock, newId: made.clock.newId, now: () => made.clock.now() - back };
    const runtime = made.process([call(5), 'Done.'], { store, clock });
    const { sessionId } = await runtime.create({ definition });
    const result = runtime.execute(sessionId, sendMessage('Pay.')).catch((error: unknown) => error);
    await settled();
    back = 3_600_000;
    for (let tick = 0; tick < 100; tick++) {
      made.clock.advance(10);
      await settled();
    }
    expect([await result, store.attempts.length]).toEqual([
      expect.objectContaining({ code: 'STORE_UNAVAILABLE' }),
      3,
    ]);
  });
});

test('with onSaveFailure "continue" a checkpoint is attempted three times, and the run continues', async () => {
  const down = await downAfterCall(1, { onSaveFailure: 'continue' });
  await down.elapse();
  const failed = down.made.events.findIndex(({ type }) => type === 'session-save-failed');
  expect(failed).toBeGreaterThan(0);
  expect(new Set(down.store.attempts.slice(0, 3).map(({ operationId }) => operationId)).size).toBe(1);
  const session = await down.made.process([], { store: down.store }).get(down.sessionId);
  expect([outcomes(session), session.state.finalResponse]).toEqual([[['succeeded', 1]], 'Done.']);
});

test('a save without a claim is attempted three times', async () => {
  const made = world();
  const store = new FailingStore(made, 'unavailable');
  const runtime = made.process([], { store });
  const { sessionId } = await runtime.create({ definition });
  store.downUntil = Infinity;
  const over = { isOver: false };
  const result = runtime
    .execute(sessionId, changeModel({ model: 'other' }))
    .catch((error: unknown) => error)
    .finally(() => (over.isOver = true));
  for (await settled(); !over.isOver; await settled()) made.clock.advance(10);
  expect(await result).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(store.attempts).toHaveLength(3);
});
