import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { EngineCase } from '@holdfast/conformance';
import { engineCases, engineTests } from '@holdfast/conformance';
import { systemClock } from '@holdfast/core';
import type { Clock } from '@holdfast/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SqliteQueueEngine } from './sqlite-queue-engine.ts';
import { QUEUE_OPTIONS, queueHarness, TestTable } from './sqlite-queue.ts';
import type { WakeUp } from './wake-up-table.ts';

/** Runs a case with a harness of its own, because cases run at the same time. */
function runAlone({ run }: EngineCase): Promise<void> {
  const { create, ...abilities } = queueHarness();
  return run(create, abilities);
}

describe('SqliteQueueEngine', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(engineCases.filter(({ needs }) => needs !== 'processes'))('$group: $name', runAlone);

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(engineCases.filter(({ needs }) => needs === 'processes'))('$group: $name', runAlone);

  test('no case is skipped', () => {
    expect(engineTests(queueHarness()).filter(({ skip }) => skip)).toEqual([]);
  });
});

/** A table that does not wait for another connection. It calls `onAdded` after it has stored a wake-up. */
class ImpatientTable extends TestTable {
  onAdded = () => {};

  constructor(path: string) {
    super(path);
    this.database.exec('PRAGMA busy_timeout = 0');
  }

  override add(wakeUp: WakeUp): void {
    super.add(wakeUp);
    this.onAdded();
  }
}

/** Opens an engine, and another connection that can lock its file. */
function lockableQueue(clock: Clock = systemClock) {
  const folder = mkdtempSync(join(tmpdir(), 'queue-'));
  const table = new ImpatientTable(join(folder, 'queue.db'));
  const engine = new SqliteQueueEngine(table, { ...QUEUE_OPTIONS, clock });
  const other = new DatabaseSync(join(folder, 'queue.db'));
  onTestFinished(() => {
    other.close();
    engine.close();
    rmSync(folder, { recursive: true });
  });
  return { engine, table, lock: () => other.exec('BEGIN IMMEDIATE'), unlock: () => other.exec('COMMIT') };
}

const lockedWarning = async (): Promise<string> => String((await once(process, 'warning'))[0]);
const LOCKED = 'Warning: Error: database is locked';

describe('a file that another connection has locked', () => {
  test('is polled until it is unlocked', async () => {
    const { engine, lock, unlock } = lockableQueue();
    await engine.wake('a');
    lock();
    const advanced = Promise.withResolvers<string>();
    await engine.serve(async (sessionId) => {
      advanced.resolve(sessionId);
      return { outcome: { type: 'finished' }, wake: [] };
    });
    for (let polls = 0; polls < 3; polls++) expect(await lockedWarning()).toBe(LOCKED);
    unlock();
    expect(await advanced.promise).toBe('a');
  });

  test('does not end the advance whose lock it cannot renew', async () => {
    const renewals: (() => void)[] = [];
    const after = (_: number, renew: () => void) => {
      renewals.push(renew);
      return () => undefined;
    };
    const { engine, lock, unlock } = lockableQueue({ ...systemClock, after });
    const started = Promise.withResolvers<AbortSignal | undefined>();
    const work = Promise.withResolvers<void>();
    await engine.serve(async (_, options) => {
      started.resolve(options?.signal);
      await work.promise;
      return { outcome: { type: 'finished' }, wake: [] };
    });
    await engine.wake('a');
    const signal = await started.promise;
    lock();
    const warning = lockedWarning();
    renewals.at(-1)?.();
    expect(await warning).toBe(LOCKED);
    unlock();
    renewals.at(-1)?.();
    expect([renewals.length, signal?.aborted]).toEqual([3, false]);
    work.resolve();
  });

  test('does not reject a wake-up that is stored', async () => {
    const { engine, table, lock, unlock } = lockableQueue();
    const advanced = Promise.withResolvers<string>();
    await engine.serve(async (sessionId) => {
      advanced.resolve(sessionId);
      return { outcome: { type: 'finished' }, wake: [] };
    });
    table.onAdded = lock;
    const warning = lockedWarning();
    await engine.wake('a');
    expect(await warning).toBe(LOCKED);
    table.onAdded = () => {};
    unlock();
    expect(await advanced.promise).toBe('a');
  });
});

const guide = join(import.meta.dirname, '../../../../docs/guide/writing-an-engine.md');

test.each(['wake-up-table.ts', 'sqlite-queue-engine.ts'])(
  'the guide shows %s as it is tested here',
  (name) => {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8').trimEnd();
    expect(readFileSync(guide, 'utf8')).toContain(`\`\`\`ts title="${name}"\n${text}\n\`\`\``);
  },
);
