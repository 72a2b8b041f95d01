import type { AdvanceResult } from '@holdfast/core/engine';
import { RedisServer } from 'test-servers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { queueReport } from '../../src/server/queue-report.ts';
import { openEngine } from '../support/bullmq-harness.ts';

const FINISHED: AdvanceResult = { outcome: { type: 'finished' }, wake: [] };

/** Starts a server, and opens an engine on it. */
async function startEngine(args: readonly string[], onWarning: (warning: string) => void = () => undefined) {
  const server = await RedisServer.start({ args });
  const { engine, close } = openEngine({ url: `redis://127.0.0.1:${server.port}` }, { onWarning });
  onTestFinished(() => close().then(() => server.stop()));
  return engine;
}

describe('the check of the server', () => {
  test('warns of a server that can lose wake-ups', async () => {
    const engine = await startEngine(['--maxmemory-policy', 'allkeys-lru']);
    const { warnings, redisVersion } = await engine.check();
    expect(redisVersion).toMatch(/^\d+\.\d+/u);
    expect(warnings).toEqual([
      'Redis may evict wake-ups when its memory is full: its maxmemory-policy is allkeys-lru. Set it to noeviction.',
      'Redis loses wake-ups when it restarts: append-only persistence is off. Set appendonly to yes.',
    ]);
  });

  test('accepts a server that keeps all', async () => {
    const engine = await startEngine(['--appendonly', 'yes']);
    expect((await engine.check()).warnings).toEqual([]);
  });

  test('passes the warnings to onWarning when the engine serves', async () => {
    const warnings: string[] = [];
    const engine = await startEngine([], (warning) => warnings.push(warning));
    const served = await engine.serve(async () => FINISHED);
    await served.stop();
    expect(warnings).toHaveLength(1);
  });

  test('refuses a server that is too old', async () => {
    const old = { info: async () => 'redis_version:5.0.14\r\n' };
    await expect(queueReport(old)).rejects.toMatchObject({
      code: 'QUEUE_UNSUITABLE',
      message: 'The engine needs Redis 6.2 or newer, or Valkey. The server has version 5.0.14.',
    });
  });

  test('accepts a server that tells nothing about itself, but its version', async () => {
    const silent = { info: async () => 'redis_version:8.0.0\r\n' };
    expect(await queueReport(silent)).toEqual({ redisVersion: '8.0.0', warnings: [] });
  });
});
