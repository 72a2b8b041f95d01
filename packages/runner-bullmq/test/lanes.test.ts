import type { Advance, AdvanceResult } from '@holdfast/core/engine';
import type { BullmqEngineOptions } from '@holdfast/runner-bullmq';
import { RedisServer, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openEngine } from './support/bullmq-harness.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const FINISHED: AdvanceResult = { outcome: { type: 'finished' }, wake: [] };
const names = (count: number, of = 'session'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${of} ${index}`);

/** Opens engines on one new queue. They stop at the end of the test. */
function queueOf(options: Partial<BullmqEngineOptions> = {}) {
  const name = `lanes-${crypto.randomUUID()}`;
  return () => {
    const { engine, close } = openEngine({ url: `redis://127.0.0.1:${server.port}` }, { name, ...options });
    onTestFinished(close);
    const serve = async (advance: Advance, concurrency: number): Promise<void> => {
      const served = await engine.serve(advance, { concurrency, onError: () => undefined });
      onTestFinished(() => served.stop());
    };
    return { engine, serve };
  };
}

describe('lanes', () => {
  test('keep their concurrency over all workers', async () => {
    const open = queueOf({ lanes: { limited: { concurrency: 2 } } });
    const engines = [open(), open()];
    const gates: (() => void)[] = [];
    let [running, most, ended] = [0, 0, 0];
    const advance: Advance = async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => gates.push(resolve));
      running--;
      ended++;
      return FINISHED;
    };
    for (const { serve } of engines) await serve(advance, 8);
    for (const id of names(10)) await engines[0]?.engine.wake(id, { lane: 'limited' });
    for (let count = 0; count < 10; count++) {
      await until('a session is worked on', () => gates.length > 0);
      gates.shift()?.();
    }
    await until('all sessions have ended', () => ended === 10);
    expect(most).toBe(2);
  });

  test('keep their rate over all workers', async () => {
    const open = queueOf({ lanes: { limited: { rate: { max: 5, seconds: 1 } } } });
    const engines = [open(), open()];
    const starts: number[] = [];
    const advance: Advance = async () => {
      starts.push(performance.now());
      return FINISHED;
    };
    for (const { serve } of engines) await serve(advance, 8);
    for (const id of names(12)) await engines[0]?.engine.wake(id, { lane: 'limited' });
    await until('all sessions have started', () => starts.length === 12);
    // 12 starts, 5 in each period: the third period has begun. A timer may fire a little early.
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(1_900);
  });

  test('pause alone: the others start their sessions during the pause of one', async () => {
    const open = queueOf();
    const { engine, serve } = open();
    const seen: string[] = [];
    const pausedUntil = Date.now() + 60_000;
    await serve(async (sessionId) => {
      seen.push(sessionId);
      if (sessionId !== 'first') return FINISHED;
      return { outcome: { type: 'throttled', until: pausedUntil, lane: 'a' }, wake: [] };
    }, 4);
    await engine.wake('first', { lane: 'a' });
    await until('"first" is worked on', () => seen.length === 1);
    for (const lane of ['a', 'b', 'c', 'd'])
      for (const id of names(20, lane)) await engine.wake(id, { lane });
    await until('the other lanes are empty', () => seen.filter((id) => /^[bcd]/u.test(id)).length === 60);
    expect(seen.filter((id) => id.startsWith('a'))).toEqual([]);
  });

  test('pause on all workers, also on those that start later', async () => {
    const open = queueOf();
    const [first, second, late] = [open(), open(), open()];
    const seen: string[] = [];
    const advance: Advance = async (sessionId) => {
      seen.push(sessionId);
      if (sessionId !== 'first') return FINISHED;
      return { outcome: { type: 'throttled', until: Date.now() + 60_000, lane: 'a' }, wake: [] };
    };
    await first.serve(advance, 1);
    await first.engine.wake('first', { lane: 'a' });
    await until('"first" is worked on', () => seen.length === 1);
    await second.serve(advance, 1);
    await second.engine.wake('paused', { lane: 'a' });
    await late.serve(advance, 1);
    for (const id of names(20)) await second.engine.wake(id);
    await until('the others are worked on', () => seen.length === 21);
    expect(seen).not.toContain('paused');
  });

  test('share no session: one worker at a time has a session that is woken in several lanes', async () => {
    const open = queueOf();
    const engines = [open(), open()] as const;
    const running = new Set<string>();
    const [last, seen, overlaps] = [new Set<string>(), new Set<string>(), [] as string[]];
    const advance: Advance = async (sessionId) => {
      if (running.has(sessionId)) overlaps.push(sessionId);
      running.add(sessionId);
      const isLast = last.has(sessionId);
      await new Promise((resolve) => setImmediate(resolve));
      if (isLast) seen.add(sessionId);
      running.delete(sessionId);
      return FINISHED;
    };
    for (const { serve } of engines) await serve(advance, 8);
    for (let round = 0; round < 10; round++) {
      if (round === 9) for (const id of names(10)) last.add(id);
      const wakes = names(10).flatMap((id) =>
        ['a', 'b', undefined].map((lane, index) => engines[index === 1 ? 1 : 0].engine.wake(id, { lane })),
      );
      await Promise.all(wakes);
    }
    await until('each session is worked on after its last wake-up', () => seen.size === 10);
    expect(overlaps).toEqual([]);
  });
});

test('an engine refuses lanes without number, before it stores anything', async () => {
  const { engine } = queueOf()();
  for (const lane of names(100, 'lane')) await engine.wake('a', { lane });
  await expect(engine.wake('a', { lane: 'another' })).rejects.toMatchObject({
    code: 'ARGUMENT_INVALID',
    message:
      'The lane "another" is one too many: an engine has at most 100 lanes. A lane is for a limit, such as that of a provider. For owners, set the group of their sessions.',
  });
});

test('groupConcurrency holds over all workers and lanes', async () => {
  const open = queueOf({ groupConcurrency: (owner) => (owner === 'ann' ? 2 : 1) });
  const engines = [open(), open()];
  const running: Record<string, number> = {};
  const most: Record<string, number> = {};
  let ended = 0;
  const advance: Advance = async (sessionId) => {
    const owner = sessionId.split(' ')[0] ?? '';
    running[owner] = (running[owner] ?? 0) + 1;
    most[owner] = Math.max(most[owner] ?? 0, running[owner]);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    running[owner]--;
    ended++;
    return FINISHED;
  };
  for (const [owner, count] of [
    ['ann', 30],
    ['bob', 5],
  ] as const)
    for (const [index, id] of names(count, owner).entries())
      await engines[0]?.engine.wake(id, { lane: `lane ${index % 3}`, group: owner });
  for (const { serve } of engines) await serve(advance, 8);
  await until('all sessions have ended', () => ended === 35);
  expect(most).toEqual({ ann: 2, bob: 1 });
});

describe('groups', () => {
  test('of ten owners with very different load wait for a few turns each, not for the backlog', async () => {
    const { engine, serve } = queueOf()();
    const loads = [500, 200, 100, 50, 20, 10, 5, 3, 2, 1];
    const order: string[] = [];
    for (const [owner, load] of loads.entries())
      await Promise.all(
        names(load, `owner ${owner}:`).map((id) =>
          engine.wake(id, { lane: 'model', group: `owner ${owner}` }),
        ),
      );
    await serve(async (sessionId) => {
      order.push(sessionId);
      return FINISHED;
    }, 4);
    await until('all sessions are worked on', () => order.length === loads.reduce((sum, load) => sum + load));
    const lastOf = (owner: number): number => order.findLastIndex((id) => id.startsWith(`owner ${owner}:`));
    // Each owner has a turn in each round of at most ten. Four sessions are worked on at once.
    for (const [owner, load] of loads.entries()) expect(lastOf(owner)).toBeLessThan(load * loads.length + 4);
  });

  test('come after those of a higher priority', async () => {
    const { engine, serve } = queueOf()();
    for (const id of names(5, 'batch')) await engine.wake(id, { group: 'x', priority: -1 });
    for (const id of names(5, 'chat')) await engine.wake(id, { group: 'x' });
    const order: string[] = [];
    await serve(async (sessionId) => {
      order.push(sessionId);
      return FINISHED;
    }, 1);
    await until('all sessions are worked on', () => order.length === 10);
    expect(order.slice(0, 5)).toEqual(names(5, 'chat'));
  });
});
