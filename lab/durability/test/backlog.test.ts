import { describe, expect, test } from 'vitest';
import { problemsOf } from './checks.ts';
import { listedSessions } from './listed-sessions.ts';
import { serverOfBlock, TESTED_STORES } from './servers.ts';
import { forEachOf, World } from './world.ts';
import { EFFORT } from './effort.ts';

const IS_LONG = EFFORT > 1;
const SWEEPERS = 8;
/** The short form is as long as the test of one store may be; DynamoDB is simulated, and slow. */
const SESSIONS: Readonly<Record<string, number>> = IS_LONG
  ? { sqlite: 10_000, redis: 10_000, dynamodb: 1_000 }
  : { sqlite: 300, redis: 300, dynamodb: 50 };

interface Drained {
  readonly woken: number;
  readonly advanced: number;
}

describe.each(TESTED_STORES)('$name', (tested) => {
  const { name } = tested;
  const newLocation = serverOfBlock(tested);

  test(`${SWEEPERS} processes sweep a backlog, and wake each session once`, async () => {
    const sessions = SESSIONS[name] ?? 0;
    const world = await World.of(name, newLocation);
    const ids = Array.from({ length: sessions }, (_, index) => `due-${index}`);
    await forEachOf(ids, 16, async (sessionId) =>
      world.begin({ sessionId, kind: 'once', steps: 0, calls: 0 }),
    );
    const began = Date.now();
    const drained = await drain(world);
    const [woken, advanced] = [total(drained, 'woken'), total(drained, 'advanced')];
    console.log(`${name}: ${sessions} sessions, ${woken} wake-ups, ${advanced} advances`, {
      seconds: (Date.now() - began) / 1_000,
      shares: drained.map((each) => each.woken).join(' '),
    });
    const listed = await listedSessions(world.store, {});
    const statuses = listed.map(({ executionStatus }) => executionStatus);
    expect(statuses).toEqual(ids.map(() => 'completed'));
    expect(woken).toBeGreaterThanOrEqual(sessions);
    expect(woken).toBeLessThanOrEqual(1.1 * sessions);
    expect(advanced).toBeLessThanOrEqual(1.1 * sessions);
    expect(problemsOf(world.journal.readBySession())).toEqual([]);
    await world.close();
  });
});

/** Starts the processes, and lets them begin together. */
async function drain(world: World): Promise<readonly Drained[]> {
  const workers = Array.from({ length: SWEEPERS }, () => world.start(['drain'], { leaseSeconds: 30 }));
  await Promise.all(workers.map((worker) => worker.line()));
  for (const worker of workers) worker.tell('begin');
  const ended = await Promise.all(workers.map((worker) => worker.ended));
  expect(ended.map(({ code, complaints }) => ({ code, complaints }))).toEqual(
    workers.map(() => ({ code: 0, complaints: '' })),
  );
  return ended.map(({ lines }) => JSON.parse(lines[0] ?? '') as Drained);
}

function total(drained: readonly Drained[], name: keyof Drained): number {
  return drained.reduce((sum, each) => sum + each[name], 0);
}
