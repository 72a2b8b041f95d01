import { inUnit, isReached, reportTable, rowOf, targetCell, type Row } from './report.ts';

/** The target of a measured number. */
interface Target {
  readonly what: string;
  /** The measured value of the first version. */
  readonly first: string;
  readonly target: number;
  readonly unit?: string;
}

/** The targets of the second version, in the order of the last table. Ratios have no unit. */
const TARGETS = {
  'core 1': { what: 'loop / `generateText`, 1 step', first: '0.42', target: 0.2 },
  'core 50': { what: 'loop / `generateText`, 50 steps', first: '0.24', target: 0.12 },
  'core 200': { what: 'loop / `generateText`, 200 steps', first: '0.17', target: 0.08 },
  'core 1000': { what: 'loop / `generateText`, 1 000 steps', first: '0.08', target: 0.025 },
  'driver 50': { what: 'through driver-ai-sdk / `generateText`, 50 steps', first: '0.40', target: 0.25 },
  'driver 200': { what: 'through driver-ai-sdk / `generateText`, 200 steps', first: '0.24', target: 0.15 },
  'driver 1000': {
    what: 'through driver-ai-sdk / `generateText`, 1 000 steps',
    first: '0.13',
    target: 0.07,
  },
  'cpu 200': {
    what: 'loop, CPU of the process / `generateText`, 200 steps',
    first: '0.45',
    target: 0.15,
  },
  parallel: {
    what: 'loop / `generateText`, 8 parallel calls, 50 steps',
    first: '0.41',
    target: 0.15,
  },
  concurrent: { what: 'loop / `generateText`, 1 000 concurrent runs', first: '0.56', target: 0.35 },
  growth: {
    what: 'loop, time of a run: exponent from 200 to 1 000 steps',
    first: '1.10',
    target: 1.05,
  },
  'redis server': { what: 'Redis: server time of a save', first: '50 µs', target: 30, unit: 'µs' },
  'redis floor': { what: 'Redis: time of a save / append floor', first: '2.5', target: 1.7 },
  'redis load': {
    what: 'Redis: server blocked by a load of 10 000 messages',
    first: '68 ms',
    target: 15,
    unit: 'ms',
  },
  'turn memory': { what: 'a turn at 1 000 messages / at 20: memory', first: '10', target: 1.2 },
  'turn redis': { what: 'a turn at 1 000 messages / at 20: Redis', first: '5', target: 1.2 },
  'turn sqlite': { what: 'a turn at 1 000 messages / at 20: SQLite', first: '4', target: 1.2 },
  'restore messages': {
    what: 'JSON.parse + fromJSON / JSON.parse, 1 000 messages of 1 KB',
    first: '–',
    target: 1.5,
  },
  'restore steps': {
    what: 'JSON.parse + fromJSON / JSON.parse, 500 tool steps, 1 002 messages',
    first: '2.9',
    target: 1.5,
  },
} as const satisfies Readonly<Record<string, Target>>;

export type TargetName = keyof typeof TARGETS;

/** The rows that tests decide: `[what, first version, target, where it is checked]`. */
const GATES: readonly (readonly [string, string, string, string])[] = [
  [
    'loop: bytes allocated a step; bytes promoted to old space a step',
    '34 500; 3 960',
    '≤ 16 000; ≤ 100',
    '`pnpm gate:allocations`',
  ],
  [
    '`claim`, refused claim, `advance({ maxSteps: 1 })`: bytes at 10 and 10 000 messages',
    'in proportion to the session',
    'equal',
    'conformance kit, cost cases; run by the tests of every store',
  ],
  [
    'inbox: bytes of one `enqueue` at 1 and 5 000 waiting items',
    '1.2 KB and 104 KB on Redis',
    'equal',
    'conformance kit, cost cases; run by the tests of every store',
  ],
  [
    'DynamoDB: write units of a step of 2 KB at the default',
    '9.6',
    '≤ 4',
    'packages/store-dynamodb/test/costs.test.ts',
  ],
  [
    'DynamoDB: index shards',
    '4, for ever',
    'can be changed while in use',
    'tests of packages/store-dynamodb',
  ],
  [
    'bundle of the README example, minified / the same with the AI SDK alone',
    '1.36 (2 030 / 1 491 KB)',
    '≤ 1.15',
    'apps/examples/test/bundle-size.test.ts',
  ],
];

/** A row with a target of the last table, with what was measured in each round. */
export function targetRow(name: TargetName, values: readonly number[]): Row {
  const { what, target, unit }: Target = TARGETS[name];
  return rowOf(what, values, target, unit);
}

/** Prints all targets of the second version, reached or missed, and where the others are checked. */
export function reportTargets(rows: readonly Row[]): void {
  const measured = Object.values<Target>(TARGETS).map((target) => {
    const row = rows.find(({ what }) => what === target.what);
    const value = row ? inUnit(row.value, row.unit) : '–';
    return [target.what, target.first, targetCell(target), value, verdict(row)];
  });
  const gates = GATES.map(([what, first, target, gate]) => [what, first, target, 'gated', gate]);
  const head = ['what', 'first version', 'target', 'measured', 'result'];
  reportTable('All targets', head, [...measured, ...gates]);
}

function verdict(row: Row | undefined): string {
  const reached = row && isReached(row);
  if (reached === undefined) return 'not measured';
  return reached ? 'reached' : '**missed**';
}
