import type { BullmqEngine } from '@holdfast/runner-bullmq';
import type { AdvanceResult } from '@holdfast/core/engine';
import { Redis } from 'ioredis';
import { RedisServer, until } from 'test-servers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEngine } from './support/bullmq-harness.ts';

const FINISHED: AdvanceResult = { outcome: { type: 'finished' }, wake: [] };
async function startServer(...args: readonly string[]): Promise<RedisServer> {
  const server = await RedisServer.start({ args });
  onTestFinished(() => server.stop());
  return server;
}

function open(port: number, options: Parameters<typeof openEngine>[1] = {}): BullmqEngine {
  const { engine, close } = openEngine({ url: `redis://127.0.0.1:${port}` }, options);
  onTestFinished(close);
  return engine;
}

describe('a server that ends', () => {
  test('and comes back with its append-only file has all wake-ups, and its workers continue', async () => {
    const server = await startServer('--appendonly', 'yes', '--appendfsync', 'always');
    const engine = open(server.port);
    const seen = new Set<string>();
    const errors: unknown[] = [];
    await engine.wake('waiting', { lane: 'x' });
    await engine.wake('later', { at: Date.now() + 1_000 });
    const served = await engine.serve(
      async (sessionId) => {
        seen.add(sessionId);
        return FINISHED;
      },
      { onError: (error) => errors.push(error) },
    );
    onTestFinished(() => served.stop());
    await until('the first session is worked on', () => seen.has('waiting'));
    await server.kill();
    await server.restart();
    await engine.wake('after');
    await until('all sessions are worked on', () => seen.size === 3);
    expect(errors).toEqual([]);
  });

  test('does not hold up the stop of an idle worker', async () => {
    const server = await startServer();
    const engine = open(server.port, { groupConcurrency: 2, lanes: { x: { rate: { max: 5, seconds: 1 } } } });
    const served = await engine.serve(async () => FINISHED);
    await server.kill();
    await expect(served.stop()).resolves.toBeUndefined();
  });

  test('rejects a wake-up in time, with a code', async () => {
    const server = await startServer();
    const engine = open(server.port, { wakeSeconds: 0.2 });
    await engine.wake('a');
    await server.kill();
    await expect(engine.wake('b')).rejects.toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      message: 'The server of the queue has not replied for 0.2 s. A sweep wakes the session later.',
    });
  });
});

describe('a queue that somebody has flushed', () => {
  test('takes new wake-ups in each lane, also while a worker serves', async () => {
    const server = await startServer();
    const engine = open(server.port);
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const served = await engine.serve(async (sessionId) => {
      seen.push(sessionId);
      if (seen.length === 1) await gate.promise;
      return FINISHED;
    });
    onTestFinished(() => served.stop());
    await engine.wake('a', { lane: 'x' });
    await until('"a" is worked on', () => seen.length === 1);
    const redis = new Redis(server.port);
    await redis.flushall();
    redis.disconnect();
    gate.resolve();
    for (const [id, lane] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', undefined],
    ] as const)
      await engine.wake(id, { lane });
    await until('all are worked on', () => new Set(seen.slice(1)).size === 3);
    expect(new Set(seen.slice(1))).toEqual(new Set(['a', 'b', 'c']));
  });
});
