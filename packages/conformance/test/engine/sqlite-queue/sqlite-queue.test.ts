import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { engineTests } from '@holdfast/conformance';
import { systemClock, type Clock } from '@holdfast/core';
import { QueueEngine, type Advance } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { testCases, testCasesApart } from '../../run/test-cases.ts';
import { queueHarness, TestTable } from './sqlite-queue.ts';

describe('QueueEngine on a file', () => {
  const isOfProcesses = (name: string): boolean => name.startsWith('processes:');
  testCases(engineTests(queueHarness()).filter(({ name }) => !isOfProcesses(name)));
  testCasesApart(queueHarness, isOfProcesses);

  test('no case is skipped', () => {
    expect(engineTests(queueHarness()).filter(({ skip }) => skip)).toEqual([]);
  });
});

/** A table that does not wait for another connection. */
class ImpatientTable extends TestTable {
  constructor(path: string) {
    super(path);
    this.database.exec('PRAGMA busy_timeout = 0');
  }
}

/** A clock whose timers fire at once. */
const hurriedClock: Clock = {
  ...systemClock,
  after(_, callback) {
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

test('a file that another connection has locked is tried again until it is unlocked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'queue-'));
  const path = join(folder, 'queue.db');
  const [table, other] = [new ImpatientTable(path), new DatabaseSync(path)];
  const [locked, advanced] = [Promise.withResolvers<unknown>(), Promise.withResolvers<string>()];
  const engine = new QueueEngine(table, { clock: hurriedClock });
  await engine.wake('a');
  other.exec('BEGIN IMMEDIATE');
  const advance: Advance = async (sessionId) => {
    advanced.resolve(sessionId);
    return { outcome: { type: 'finished' }, wake: [] };
  };
  const onError = (error: unknown, sessionId: string | undefined) =>
    locked.resolve([String(error), sessionId]);
  const served = await engine.serve(advance, { onError });
  expect(await locked.promise).toEqual(['Error: database is locked', undefined]);
  other.exec('COMMIT');
  expect(await advanced.promise).toBe('a');
  await served.stop();
  table.close();
  other.close();
  rmSync(folder, { recursive: true });
});

const guide = join(import.meta.dirname, '../../../../../docs/guide/writing-an-engine.md');

test('the guide shows wake-up-table.ts as it is tested here', () => {
  const text = readFileSync(join(import.meta.dirname, 'wake-up-table.ts'), 'utf8').trimEnd();
  expect(readFileSync(guide, 'utf8')).toContain(`\`\`\`ts title="wake-up-table.ts"\n${text}\n\`\`\``);
});
