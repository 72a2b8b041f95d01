import { engineCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { defects } from '../broken-engines/defects.ts';
import redCases from '../broken-engines/red-cases.json' with { type: 'json' };
import { plantedInQueue } from './broken-queues.ts';
import { queueHarness } from './sqlite-queue.ts';

/** The cases that find each defect in the in-process engine. They find it in an engine on a file as well. */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

/** Defects that an engine on a file cannot have, with the reason. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  'forgets all sessions when it stops': 'The defect replaces the engine by a new one in memory.',
};

/** With `EFFORT=2`, each defect is planted for all its cases. Otherwise for the first. */
const most = Number(process.env['EFFORT'] ?? 1) > 1 ? Infinity : 1;

test.for(Object.entries(defects).filter(([name]) => IMPOSSIBLE[name] === undefined))(
  'the cases find an engine on a file that %s',
  async ([name, defect]) => {
    const red = (expected[name] ?? []).slice(0, most);
    const open = plantedInQueue(defect);
    const passed: string[] = [];
    for (const { group, name, run } of engineCases) {
      if (!red.includes(`${group}: ${name}`)) continue;
      const { create, ...abilities } = queueHarness(open);
      await run(create, { ...abilities, waitSeconds: 0 }).then(
        () => passed.push(`${group}: ${name}`),
        () => undefined,
      );
    }
    expect(passed).toEqual([]);
  },
);
