import { inUnit, isReached, reportTable, rowOf, targetCell, type Row } from './report.ts';

/** The target of a measured number: what it is, its value in the first version, its bound. Ratios have no unit. */
type Target = readonly [what: string, first: string, target: number, unit?: string];

/** The targets of the second version, in the order of the last table. */
const TARGETS = {
  'core 1': ['loop / `generateText`, 1 step', '0.42', 0.15],
  'core 50': ['loop / `generateText`, 50 steps', '0.24', 0.1],
  'core 200': ['loop / `generateText`, 200 steps', '0.17', 0.07],
  'core 1000': ['loop / `generateText`, 1 000 steps', '0.08', 0.025],
  'driver 50': ['through driver-ai-sdk / `generateText`, 50 steps', '0.40', 0.25],
  'driver 200': ['through driver-ai-sdk / `generateText`, 200 steps', '0.24', 0.15],
  'driver 1000': ['through driver-ai-sdk / `generateText`, 1 000 steps', '0.13', 0.07],
  'cpu 200': ['loop, CPU of the process / `generateText`, 200 steps', '0.45', 0.15],
  parallel: ['loop / `generateText`, 8 parallel calls, 50 steps', '0.41', 0.1],
  concurrent: ['loop / `generateText`, 1 000 concurrent runs', '0.56', 0.35],
  growth: ['loop, time of a run: exponent from 200 to 1 000 steps', '1.10', 1.05],
  'redis server': ['Redis: server time of a save', '50 µs', 30, 'µs'],
  'redis floor': ['Redis: time of a save / append floor', '2.5', 1.7],
  'redis load': ['Redis: server blocked by a load of 10 000 messages', '68 ms', 15, 'ms'],
  'step core': ['ten steps at 5 000 messages / at 10: loop', '–', 1.1],
  'step driver': ['ten steps at 5 000 messages / at 10: through driver-ai-sdk', '–', 1.2],
  'turn memory': ['a turn at 5 000 messages / at 10: memory', '–', 1.2],
  'turn redis': ['a turn at 5 000 messages / at 10: Redis', '–', 1.2],
  'turn sqlite': ['a turn at 5 000 messages / at 10: SQLite', '–', 1.2],
  'first token': ['chat through BullMQ and Redis: first token, p50', '63 ms', 25, 'ms'],
  'first token late': ['chat through BullMQ and Redis: first token, p99', '116 ms', 60, 'ms'],
  'turn commands': ['chat through BullMQ and Redis: commands of Redis a turn', '185', 100],
  'restore messages': ['JSON.parse + fromJSON / JSON.parse, 1 000 messages of 1 KB', '–', 1.5],
  'restore steps': ['JSON.parse + fromJSON / JSON.parse, 500 tool steps, 1 002 messages', '2.9', 1.5],
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
  const [what, , target, unit]: Target = TARGETS[name];
  return rowOf(what, values, target, unit);
}

/** Prints all targets of the second version, reached or missed, and where the others are checked. */
export function reportTargets(rows: readonly Row[]): void {
  const measured = Object.values<Target>(TARGETS).map(([what, first, target, unit = '']) => {
    const row = rows.find((each) => each.what === what);
    const value = row ? inUnit(row.value, row.unit) : '–';
    return [what, first, targetCell({ target, unit }), value, verdict(row)];
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
