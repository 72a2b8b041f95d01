import { setImmediate } from 'node:timers';
import type { ExecutionEngine } from '@holdfast/core/engine';
import { systemClock } from '@holdfast/core';
import type { Defect } from '../broken-engines/engine-parts.ts';
import { defects } from '../broken-engines/defects.ts';
import { brokenTables } from './broken-tables.ts';
import { openQueue, openQueueWith, TestTable, type OpenQueue } from './sqlite-queue.ts';

/** Plants a defect around a correct engine with a file. */
export const plantedInQueue =
  (defect: Defect): OpenQueue =>
  (path, clock = systemClock) => {
    const { engine, close } = openQueue(path, clock);
    const sound: ExecutionEngine = {
      wake: (...args) => engine.wake(...args),
      serve: (...args) => engine.serve(...args),
    };
    return { engine: { ...sound, ...defect({ engine, clock }) }, close };
  };

/** Stores wake-ups one turn late, unless the process has died. */
const wakesLate: Defect = ({ engine }) => ({
  async wake(...args) {
    setImmediate(() => void engine.wake(...args).catch(() => undefined));
  },
});

/** Defects around the engine that its cases with several engines find. */
const SHARED = [
  'refuses ids with a colon',
  'forgets sleeping sessions',
  'has one queue for all lanes',
  'ignores priorities',
  'ignores groups',
  'does not abort advances when it stops',
  'ignores withinSeconds',
  'forgets the outcome of an advance during a stop',
  'advances any number of sessions at the same time',
];

const planted: Readonly<Record<string, Defect>> = {
  'resolves wake before the wake-up is stored': wakesLate,
  ...Object.fromEntries(Object.entries(defects).filter(([name]) => SHARED.includes(name))),
};

/** Engines with a file and a defect, by the name of the defect. */
export const brokenQueues: Readonly<Record<string, OpenQueue>> = {
  ...Object.fromEntries(Object.entries(brokenTables).map(([name, table]) => [name, openQueueWith(table)])),
  'does not look for wake-ups of other engines': openQueueWith(
    (path, options) => new TestTable(path, { ...options, pollSeconds: 1_000 }),
  ),
  ...Object.fromEntries(Object.entries(planted).map(([name, defect]) => [name, plantedInQueue(defect)])),
};
