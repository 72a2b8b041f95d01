import { RunAbort } from '@holdfast/core';
import {
  QueueEngine,
  type Advance,
  type AdvanceOptions,
  type AdvanceResult,
  type GroupLimits,
  type LockedSession,
  type QueueEngineOptions,
} from '@holdfast/core/engine';
import { manualClock, type ManualClock } from '@holdfast/core/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { MemoryWakeUps } from '../../../../src/session/engine/queue/memory-wake-ups.ts';
import { settled } from '../../../support/durable-world.ts';
import { unhandledRejections } from '../../../support/unhandled-rejections.ts';

const FINISHED: AdvanceResult = { outcome: { type: 'finished' }, wake: [] };
const ISOLATE: AdvanceResult = { outcome: { type: 'isolate' }, wake: [] };
const LOCK_SECONDS = 30;
const THIRD = 10_000;
const PAUSE = 1_000;

type Method = 'add' | 'take' | 'wait' | 'renew' | 'finish';

/** A queue in memory whose locks end, and whose methods fail or wait when the test wants it. */
class LockingQueue extends MemoryWakeUps {
  readonly lockSeconds = LOCK_SECONDS;
  readonly renewals: (readonly string[])[] = [];
  /** The sessions whose lock has ended. */
  readonly lost = new Set<string>();
  private readonly failures: Method[] = [];
  private gate: Promise<void> | undefined;

  /** Lets the next call of a method fail. */
  fail(method: Method): void {
    this.failures.push(method);
  }

  /** Lets each `take` wait. */
  hold(gate: Promise<void> | undefined): void {
    this.gate = gate;
  }

  override async add(...args: Parameters<MemoryWakeUps['add']>): Promise<void> {
    this.call('add');
    await super.add(...args);
  }

  override async take(): Promise<LockedSession | undefined> {
    this.call('take');
    const taken = super.take();
    await this.gate;
    return taken;
  }

  override async wait(signal: AbortSignal): Promise<void> {
    this.call('wait');
    await super.wait(signal);
  }

  override async finish(...args: Parameters<MemoryWakeUps['finish']>): Promise<void> {
    this.call('finish');
    await super.finish(...args);
  }

  async renew(locks: readonly LockedSession[]): Promise<readonly LockedSession[]> {
    this.call('renew');
    this.renewals.push(locks.map(({ sessionId }) => sessionId));
    return locks.filter(({ sessionId }) => this.lost.has(sessionId));
  }

  private call(method: Method): void {
    const index = this.failures.indexOf(method);
    if (index === -1) return;
    this.failures.splice(index, 1);
    throw new Error(`No ${method}.`);
  }
}

/** An engine whose advances wait until the test ends them. */
interface GatedOptions extends QueueEngineOptions {
  readonly resultOf?: (id: string) => AdvanceResult;
  readonly groupLimits?: GroupLimits;
}

function gatedEngine(options: GatedOptions = {}) {
  const { resultOf = () => FINISHED, groupLimits, ...engineOptions } = options;
  const clock: ManualClock = manualClock(1_000);
  let timers = 0;
  const after: ManualClock['after'] = (milliseconds, callback) => {
    timers++;
    let isSet = true;
    const unset = (): void => void (isSet && (timers--, (isSet = false)));
    const callOff = clock.after(milliseconds, () => (unset(), callback()));
    return () => (unset(), callOff());
  };
  const queue = new LockingQueue({ ...clock, after }, {}, groupLimits);
  const engine = new QueueEngine(queue, { clock: { ...clock, after }, ...engineOptions });
  const started: string[] = [];
  const given: AdvanceOptions[] = [];
  const errors: unknown[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const advance: Advance = async (sessionId, advanceOptions = {}) => {
    started.push(sessionId);
    given.push(advanceOptions);
    const gate = Promise.withResolvers<void>();
    gates.set(sessionId, gate);
    await gate.promise;
    return resultOf(sessionId);
  };
  const onError = (error: unknown, id: string | undefined): void =>
    void errors.push([(error as Error).message, id]);
  const wake = async (...sessionIds: readonly string[]): Promise<void> => {
    for (const sessionId of sessionIds) await engine.wake(sessionId);
    await settled();
  };
  const end = async (sessionId: string): Promise<void> => {
    gates.get(sessionId)?.resolve();
    await settled();
  };
  const pass = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await settled();
  };
  const parts = { clock, queue, engine, advance, onError, started, given, errors };
  return { ...parts, wake, end, pass, timers: () => timers };
}

const unhandled = unhandledRejections();

describe('a queue that fails', () => {
  test.each<Method>(['take', 'wait'])('in %s is called again after a pause', async (method) => {
    const { queue, engine, advance, onError, wake, end, pass, started, errors } = gatedEngine();
    queue.fail(method);
    await engine.serve(advance, { onError });
    await settled();
    expect(errors).toEqual([[`No ${method}.`, undefined]]);
    await wake('a');
    await pass(PAUSE - 1);
    expect(started).toEqual([]);
    await pass(1);
    await end('a');
    expect([started, errors.length, unhandled]).toEqual([['a'], 1, []]);
  });

  test('in finish is reported, and other sessions continue', async () => {
    const { queue, engine, advance, onError, wake, end, started, errors } = gatedEngine();
    await engine.serve(advance, { onError });
    await wake('a');
    queue.fail('finish');
    await end('a');
    await wake('b');
    expect([started, errors]).toEqual([['a', 'b'], [['No finish.', undefined]]]);
  });

  test('in renew is asked again at the next renewal, and the work continues', async () => {
    const { queue, engine, advance, onError, wake, pass, given, errors } = gatedEngine();
    await engine.serve(advance, { onError });
    await wake('a');
    queue.fail('renew');
    for (let third = 0; third < 2; third++) await pass(THIRD);
    expect([queue.renewals, errors]).toEqual([[['a']], [['No renew.', undefined]]]);
    expect(given[0]?.signal?.aborted).toBe(false);
  });

  test('in add rejects the wake-up', async () => {
    const { queue, engine } = gatedEngine();
    queue.fail('add');
    await expect(engine.wake('a')).rejects.toThrow('No add.');
  });

  test('can be stopped during the pause', async () => {
    const { queue, engine, advance, onError, timers } = gatedEngine();
    queue.fail('take');
    const served = await engine.serve(advance, { onError });
    await settled();
    await served.stop();
    expect(timers()).toBe(0);
  });

  describe('without onError', () => {
    afterEach(() => void vi.restoreAllMocks());

    test('is named in a warning', async () => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
      const { queue, engine, advance } = gatedEngine();
      queue.fail('take');
      const served = await engine.serve(advance);
      await settled();
      await served.stop();
      expect(warn.mock.calls).toEqual([['The queue of the engine failed:', new Error('No take.')]]);
    });
  });
});

describe('locks', () => {
  test('are renewed three times in their time, and no timer remains after the last work', async () => {
    const { queue, engine, advance, wake, end, pass, timers } = gatedEngine();
    const served = await engine.serve(advance);
    await wake('a');
    await pass(THIRD);
    await wake('b');
    await pass(THIRD);
    await end('a');
    await pass(THIRD);
    expect(queue.renewals).toEqual([['a'], ['a', 'b'], ['b']]);
    await end('b');
    expect(timers()).toBe(0);
    await served.stop();
  });

  test('that are lost abort the signal, and the result is followed', async () => {
    const { queue, engine, advance, wake, end, pass, started, given } = gatedEngine({
      resultOf: (id) => (id === 'a' ? { ...FINISHED, wake: ['parent'] } : FINISHED),
    });
    await engine.serve(advance);
    await wake('a', 'b');
    queue.lost.add('a');
    await pass(THIRD);
    const [lost, kept] = given.map(({ signal }) => signal);
    expect([lost?.aborted, kept?.aborted]).toEqual([true, false]);
    expect(lost?.reason).toBeInstanceOf(RunAbort);
    expect(lost?.reason).toMatchObject({ kind: 'yield' });
    await end('a');
    expect(started).toEqual(['a', 'b', 'parent']);
  });
});

describe('a stop', () => {
  test('during take gives the session back, due since the same instant', async () => {
    const { queue, engine, advance, wake, clock, started } = gatedEngine();
    const gate = Promise.withResolvers<void>();
    await wake('a');
    clock.advance(5);
    queue.hold(gate.promise);
    const served = await engine.serve(advance);
    const stop = served.stop();
    gate.resolve();
    await stop;
    expect([started, await queue.take()]).toEqual([[], { sessionId: 'a', schedule: {}, dueAt: 1_000 }]);
  });

  test('is followed by a worker that takes sessions after the last take has settled', async () => {
    const { queue, engine, advance, wake, end, started } = gatedEngine();
    const gate = Promise.withResolvers<void>();
    queue.hold(gate.promise);
    const served = await engine.serve(advance);
    const stop = served.stop();
    const take = vi.spyOn(queue, 'take');
    await engine.serve(advance);
    await wake('a');
    expect(take).not.toHaveBeenCalled();
    gate.resolve();
    await stop;
    await settled();
    await end('a');
    expect(started).toEqual(['a']);
  });

  test('by an advance aborts the signal of that advance', async () => {
    const { engine, wake } = gatedEngine();
    const stops: Promise<void>[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const served = await engine.serve(async (_, options) => {
      stops.push(served.stop());
      signals.push(options?.signal);
      return FINISHED;
    });
    await wake('a');
    await Promise.all(stops);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });
});

describe('suspect sessions', () => {
  const isSuspect = (id: string): AdvanceResult => (id.startsWith('suspect') ? ISOLATE : FINISHED);

  test('leave their place to other sessions while one is isolated', async () => {
    const { engine, advance, wake, end, started } = gatedEngine({ resultOf: isSuspect });
    const isolated = gatedEngine();
    await engine.serve(advance, { concurrency: 1, isolated: isolated.advance });
    await wake('suspect');
    await end('suspect');
    await wake('other');
    expect([isolated.started, started]).toEqual([['suspect'], ['suspect', 'other']]);
  });

  test('that wait for their turn are given back at a stop, and when their lock is lost', async () => {
    const { queue, engine, advance, wake, end, pass } = gatedEngine({ resultOf: isSuspect });
    const isolated = gatedEngine();
    const finish = vi.spyOn(queue, 'finish');
    const given = (): unknown[] =>
      finish.mock.calls.map(([, { wakeUps }]) => wakeUps.map(({ sessionId }) => sessionId));
    const served = await engine.serve(advance, { concurrency: 4, isolated: isolated.advance });
    for (const id of ['suspect 1', 'suspect 2', 'suspect 3', 'suspect 4']) {
      await wake(id);
      await end(id);
    }
    queue.lost.add('suspect 2');
    await pass(THIRD);
    expect(given()).toEqual([['suspect 2']]);
    await end('suspect 2');
    await isolated.end('suspect 1');
    expect(isolated.started).toEqual(['suspect 1', 'suspect 3']);
    const stop = served.stop();
    await settled();
    expect(given().slice(2)).toEqual([['suspect 4'], ['suspect 2']]);
    await isolated.end('suspect 3');
    await stop;
  });

  test('that wait until they are alone are not advanced after a stop', async () => {
    const { queue, engine, advance, wake, end, started } = gatedEngine({ resultOf: isSuspect });
    const served = await engine.serve(advance);
    await wake('suspect', 'other');
    await end('suspect');
    const stop = served.stop();
    await end('other');
    await stop;
    expect([started, (await queue.take())?.sessionId]).toEqual([['suspect', 'other'], 'suspect']);
  });
});

describe('serve', () => {
  test('opens the queue before it takes a session, and ends that at the stop', async () => {
    const calls: string[] = [];
    class OpenedQueue extends MemoryWakeUps {
      async open() {
        calls.push('open');
        return () => void calls.push('end');
      }

      override async take() {
        calls.push('take');
        return super.take();
      }
    }
    const engine = new QueueEngine(new OpenedQueue(manualClock(), {}));
    const served = await engine.serve(async () => FINISHED);
    await served.stop();
    expect(calls).toEqual(['open', 'take', 'end']);
  });

  test('can be called again after the queue could not be opened, and not while it is opened', async () => {
    const opened = Promise.withResolvers<undefined>();
    const open = vi
      .fn<() => Promise<undefined>>()
      .mockRejectedValueOnce(new Error('The queue is away.'))
      .mockReturnValue(opened.promise);
    const engine = new QueueEngine(Object.assign(new MemoryWakeUps(manualClock(), {}), { open }));
    const advance: Advance = async () => FINISHED;
    await expect(engine.serve(advance)).rejects.toThrow('The queue is away.');
    const serving = engine.serve(advance);
    await expect(engine.serve(advance)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    opened.resolve(undefined);
    await (await serving).stop({ withinSeconds: 0 });
  });

  test('checks its arguments before it opens the queue', async () => {
    const open = vi.fn<() => Promise<undefined>>();
    const engine = new QueueEngine(Object.assign(new MemoryWakeUps(manualClock(), {}), { open }));
    await expect(engine.serve('x' as never)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect(open).not.toHaveBeenCalled();
  });
});

test('a queue whose locks end must renew them', () => {
  const queue = Object.assign(new MemoryWakeUps(manualClock(), {}), { lockSeconds: 30 });
  expect(() => new QueueEngine(queue)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});

test('a stop does not wait for a queue that does not reply', async () => {
  const clock = manualClock();
  const queue = Object.assign(new MemoryWakeUps(clock, {}), {
    take: () => new Promise<never>(() => undefined),
  });
  const served = await new QueueEngine(queue, { clock }).serve(async () => FINISHED);
  let isStopped = false;
  const stopped = served.stop().then(() => (isStopped = true));
  await settled();
  expect(isStopped).toBe(false);
  clock.advance(5_000);
  await stopped;
});

test('a worker that can start no session ends its wait: the queue must hand out none', async () => {
  const clock = manualClock();
  const waits: AbortSignal[] = [];
  class WaitedQueue extends MemoryWakeUps {
    override async wait(signal: AbortSignal): Promise<void> {
      waits.push(signal);
      await super.wait(signal);
    }
  }
  const engine = new QueueEngine(new WaitedQueue(clock, {}), { clock });
  const advanced = Promise.withResolvers<AdvanceResult>();
  const alone = Promise.withResolvers<AdvanceResult>();
  const served = await engine.serve((_, options) =>
    options?.suspects === 'alone' ? alone.promise : advanced.promise,
  );
  await engine.wake('a');
  await settled();
  expect(waits.at(-1)?.aborted).toBe(false);
  advanced.resolve({ outcome: { type: 'isolate' }, wake: [] });
  await settled();
  expect(waits.at(-1)?.aborted).toBe(true);
  alone.resolve(FINISHED);
  await served.stop();
});

describe('an advance', () => {
  test('is traced by a queue that can', async () => {
    const clock = manualClock();
    const traced: string[] = [];
    const ended = Promise.withResolvers<void>();
    const queue = Object.assign(new MemoryWakeUps(clock, {}), {
      async trace<T>({ sessionId }: LockedSession, work: () => Promise<T>): Promise<T> {
        traced.push(`begin ${sessionId}`);
        const result = await work();
        traced.push(`end ${sessionId}`);
        ended.resolve();
        return result;
      },
    });
    const engine = new QueueEngine(queue, { clock });
    await engine.wake('a');
    const served = await engine.serve(async () => (traced.push('work'), FINISHED));
    await ended.promise;
    await served.stop();
    expect(traced).toEqual(['begin a', 'work', 'end a']);
  });

  test('gets stepsPerTurn as its limit', async () => {
    const { engine, advance, wake, given } = gatedEngine({ stepsPerTurn: 3 });
    await engine.serve(advance);
    await wake('a');
    expect(given).toEqual([expect.objectContaining({ maxSteps: 3, suspects: 'refuse' })]);
  });

  test('gets `route` for a wake-up without a lane, and follows the lane of its result', async () => {
    const next = { agentName: 'agent', lane: 'x', priority: 2, group: 'g' };
    const { queue, engine, advance, wake, end, given } = gatedEngine({
      resultOf: () => ({ outcome: { type: 'yield' }, wake: [], next }),
    });
    const finish = vi.spyOn(queue, 'finish');
    await engine.serve(advance);
    await wake('a');
    await end('a');
    expect(given.map(({ route }) => route)).toEqual(['lane', undefined]);
    const wakeUp = { sessionId: 'a', at: 1_000, lane: 'x', priority: 2, group: 'g', isRouted: true };
    expect(finish.mock.calls).toEqual([[expect.anything(), { wakeUps: [wakeUp] }]]);
  });

  test('gets no `route` again for a session whose advance has returned no lane', async () => {
    const { engine, advance, wake, end, given } = gatedEngine({
      resultOf: () => ({ outcome: { type: 'yield' }, wake: [], next: { agentName: 'agent', group: 'g' } }),
    });
    await engine.serve(advance);
    await wake('a');
    await end('a');
    await end('a');
    expect(given.map(({ route }) => route)).toEqual(['lane', undefined, undefined]);
  });

  test('gets what is unknown as its route when the queue limits groups', async () => {
    const { queue, engine, advance } = gatedEngine({ groupLimits: () => 5 });
    await queue.add([
      { sessionId: 'a', at: 0 },
      { sessionId: 'b', at: 0, lane: 'x' },
      { sessionId: 'c', at: 0, group: 'g' },
      { sessionId: 'd', at: 0, lane: 'x', group: 'g' },
      { sessionId: 'e', at: 0, lane: 'x', isRouted: true },
    ]);
    const routes = new Map<string, AdvanceOptions['route']>();
    await engine.serve((sessionId, options = {}) => {
      routes.set(sessionId, options.route);
      return advance(sessionId, options);
    });
    await settled();
    expect(Object.fromEntries(routes)).toEqual({
      a: 'lane-and-group',
      b: 'group',
      c: 'lane',
      d: undefined,
      e: undefined,
    });
  });

  test('that wakes its own session does so in the lane of its result', async () => {
    const next = { agentName: 'agent', lane: 'x' };
    const { queue, engine, advance, wake, end } = gatedEngine({
      resultOf: () => ({ ...FINISHED, wake: ['a', 'b'], next }),
    });
    const finish = vi.spyOn(queue, 'finish');
    await engine.serve(advance, { concurrency: 1 });
    await wake('a');
    await end('a');
    expect(finish.mock.calls[0]?.[1].wakeUps).toEqual([
      { sessionId: 'a', at: 1_000, lane: 'x', isRouted: true },
      { sessionId: 'b', at: 1_000 },
    ]);
  });
});

describe('the next turn of a session', () => {
  const next = { agentName: 'agent', lane: 'x' };
  const TURN: AdvanceResult = { outcome: { type: 'yield' }, wake: [], next, steps: 1 };

  /** A queue in which a session may keep its place. */
  class OpenQueue extends MemoryWakeUps {
    taken: string[] = [];
    isOpen = true;

    override async take(): Promise<LockedSession | undefined> {
      const lock = await super.take();
      if (lock) this.taken.push(lock.sessionId);
      return lock;
    }

    mayContinue(): boolean {
      return this.isOpen;
    }
  }

  /** An engine with a queue in which sessions need `turns` turns each. Returns the sessions in the order of their turns. */
  async function turnsOf(
    concurrency: number,
    {
      turns = 4,
      isOpen = true,
      result = TURN,
    }: { turns?: number; isOpen?: boolean; result?: AdvanceResult } = {},
  ): Promise<{ readonly order: readonly string[]; readonly taken: readonly string[] }> {
    const clock = manualClock(1_000);
    const queue = new OpenQueue(clock, {});
    queue.isOpen = isOpen;
    const engine = new QueueEngine(queue, { clock, stepsPerTurn: 1 });
    const order: string[] = [];
    const served = await engine.serve(
      async (sessionId, { route } = {}) => {
        if (route) return { ...TURN, steps: 0 };
        await settled();
        order.push(sessionId);
        return order.filter((one) => one === sessionId).length < turns ? result : FINISHED;
      },
      { concurrency },
    );
    await Promise.all([engine.wake('a'), engine.wake('b')]);
    for (let turn = 0; turn < 20; turn++) await settled();
    await served.stop();
    return { order, taken: queue.taken.slice(2) }; // without the turns that asked for the lane
  }

  test('follows at once in the same worker while that has free places', async () => {
    const { order, taken } = await turnsOf(8);
    expect(order).toHaveLength(8);
    expect(taken).toEqual(['a', 'b']);
  });

  test('waits for its turn when another session waits', async () => {
    const { order } = await turnsOf(1);
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']);
  });

  test.each([
    ['its lane has a limit or a pause', { isOpen: false }],
    ['its lane changes', { result: { ...TURN, next: { ...next, lane: 'y' } } }],
    ['it wakes another session', { result: { ...TURN, wake: ['c'] } }],
    ['it took no step', { result: { ...TURN, steps: 0 } }],
  ])('goes through the queue when %s', async (_, options) => {
    const { taken } = await turnsOf(8, options);
    expect(taken.filter((id) => id !== 'c').length).toBeGreaterThan(2);
  });
});
