import { testCasesApart } from '@holdfast/conformance/vitest';
import { RedisCluster, until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bullmqHarness, openEngine } from './support/bullmq-harness.ts';

let cluster: RedisCluster | undefined;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster?.stop());

const connection = () => ({ cluster: cluster?.nodes ?? [] });

/** Cases that use each script and each queue. All cases run with `EFFORT=2`. */
const GROUPS = /^(?:lanes|moments|outcomes|sharing|processes):/u;
const isLong = Number(process.env['EFFORT'] ?? 1) > 1;

describe('on a Cluster', () => {
  testCasesApart(
    () => bullmqHarness(connection()),
    (name) => isLong || GROUPS.test(name),
  );

  test('groupConcurrency holds over all lanes', async () => {
    const { engine, close } = openEngine(connection(), { groupConcurrency: 1 });
    onTestFinished(close);
    const done: string[] = [];
    let inWork = 0;
    let most = 0;
    const served = await engine.serve(async (sessionId) => {
      most = Math.max(most, ++inWork);
      await new Promise(setImmediate);
      inWork--;
      done.push(sessionId);
      return { outcome: { type: 'finished' }, wake: [] };
    });
    onTestFinished(() => served.stop());
    const ids = Array.from({ length: 12 }, (_, number) => `session ${number}`);
    for (const [number, id] of ids.entries())
      await engine.wake(id, { group: 'ada', lane: number % 2 === 0 ? 'openai' : 'local' });
    await until('all sessions are done', () => new Set(done).size === ids.length);
    expect(most).toBe(1);
  });
});
