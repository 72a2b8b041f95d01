import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineCase } from '@holdfast/conformance';
import { engineCases, engineTests } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { queueHarness } from './sqlite-queue.ts';

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

const guide = join(import.meta.dirname, '../../../../docs/guide/writing-an-engine.md');

test.each(['wake-up-table.ts', 'sqlite-queue-engine.ts'])(
  'the guide shows %s as it is tested here',
  (name) => {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8').trimEnd();
    expect(readFileSync(guide, 'utf8')).toContain(`\`\`\`ts title="${name}"\n${text}\n\`\`\``);
  },
);
