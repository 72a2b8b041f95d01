import { describe, expect, inject, test } from 'vitest';
import type { SpendingLedger } from '@holdfast/core/spending';
import { LEDGERS } from '../src/spending-ledgers.ts';
import type { SpendingLine, SpendingPlan } from '../src/spending-worker.ts';
import { serverOfBlock, TESTED_STORES, type TestedStore } from './servers.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { WorkerProcess } from './worker-process.ts';
import { EFFORT } from './effort.ts';

const FIRST_SEED = Number(process.env['SEED'] ?? 1);
const NOW = Date.UTC(2027, 0, 31, 10, 30);
const OWNER = 'acme';
const MAX_BOUND = 50;
/** A call costs at most so many cents. */
const MAX_COST = MAX_BOUND + 5;
const EXPIRES_IN_SECONDS = 60;

interface Load {
  readonly processes: number;
  readonly callers: number;
  /** In cents. */
  readonly limit: number;
}

/** Dynalite serves all processes from the thread of this test, so it gets fewer calls. */
function loadOf({ name }: TestedStore): Load {
  return name === 'dynamodb'
    ? { processes: 8, callers: 2, limit: 400 * Math.min(EFFORT, 4) }
    : { processes: 8, callers: 10, limit: 4_000 * EFFORT };
}

/** The sums of the lines of all processes, in cents. */
interface Sums {
  readonly settling: number;
  readonly settled: number;
  readonly excess: number;
  /** Reserved for calls that did not begin to settle. */
  readonly open: number;
  readonly calls: number;
}

const DEATHS = ['reserving', 'reserved', 'settling'] as const;

/** Runs processes until the ledger refuses each of their callers. The first ones die. Returns the lines of all. */
async function spendAll(
  { name }: TestedStore,
  location: string,
  plan: SpendingPlan,
  { processes, deaths }: { readonly processes: number; readonly deaths: readonly SpendingPlan['death'][] },
): Promise<readonly SpendingLine[]> {
  const program = inject('spendingWorker');
  const workers = Array.from({ length: processes }, (_, index) => {
    const own = JSON.stringify({ ...plan, seed: plan.seed * 100 + index, death: deaths[index] });
    return new WorkerProcess({ store: name, location, journal: '', program }, own);
  });
  await Promise.all(workers.map((worker) => worker.line())); // ready
  for (const worker of workers) worker.tell('go');
  const read = workers.map(async (worker, index) => {
    const lines: SpendingLine[] = [];
    for (let text = await worker.line(); text !== undefined; text = await worker.line()) {
      lines.push(JSON.parse(text) as SpendingLine);
    }
    const { code, signal, complaints } = await worker.ended;
    const expected = deaths[index] ? { code: null, signal: 'SIGKILL' } : { code: 0, signal: null };
    expect({ code, signal, complaints }).toEqual({ ...expected, complaints: '' });
    return lines;
  });
  return (await Promise.all(read)).flat();
}

function sumsOf(lines: readonly SpendingLine[]): Sums {
  const sum = (chosen: readonly SpendingLine[]): number =>
    chosen.reduce((total, { amount = 0 }) => total + amount, 0);
  const of = (type: SpendingLine['type']) => lines.filter((line) => line.type === type);
  const begun = new Set(of('settling').map(({ id }) => id));
  return {
    settling: sum(of('settling')),
    settled: sum(of('settled')),
    excess: of('settling').reduce((total, { excess = 0 }) => total + excess, 0),
    open: sum(of('reserved').filter(({ id }) => !begun.has(id))),
    calls: begun.size,
  };
}

/** Whole cents: amounts that differ from their cents show drift. */
function inCents(dollars: number): number {
  const cents = Math.round(dollars * 100);
  expect(dollars).toBe(cents / 100);
  return cents;
}

async function withLedger<T>(
  { name }: TestedStore,
  location: string,
  now: number,
  act: (ledger: SpendingLedger) => Promise<T>,
): Promise<T> {
  const ledger = await LEDGERS[name]?.(location, { now: () => now, newId: () => crypto.randomUUID() });
  if (ledger === undefined) throw new Error(`There is no ledger "${name}".`);
  try {
    return await act(ledger);
  } finally {
    await ledger.close();
  }
}

/** The cents that are spent and reserved in the day. */
function spendingAt(store: TestedStore, location: string, now: number) {
  return withLedger(store, location, now, async (ledger) => {
    const { spent, reserved } = (await ledger.read(OWNER)).day;
    return { spent: inCents(spent), reserved: inCents(reserved) };
  });
}

describe.each(TESTED_STORES)('one owner of many processes, on $name', (store) => {
  const { processes, callers, limit } = loadOf(store);
  const newLocation = serverOfBlock(store);
  const location = (): Promise<string> => newLocation(temporaryFolder());
  const plan = (seed: number, isReserved: boolean): SpendingPlan => ({
    owner: OWNER,
    now: NOW,
    limit,
    callers,
    maxBound: MAX_BOUND,
    isReserved,
    seed,
  });
  const seeds = Array.from({ length: Math.ceil(EFFORT / 2) }, (_, index) => FIRST_SEED + index);

  test.each(seeds)('reservations keep the limit, also when processes are killed; seed %i', async (seed) => {
    const where = await location();
    const lines = await spendAll(store, where, plan(seed, true), { processes, deaths: DEATHS });
    const { settling, settled, excess, open, calls } = sumsOf(lines);
    const { spent, reserved } = await spendingAt(store, where, NOW);
    // A killed process does not say whether its last settlements were done, or its last reservations.
    expect(spent).toBeGreaterThanOrEqual(settled);
    expect(spent).toBeLessThanOrEqual(settling);
    expect(reserved).toBeGreaterThanOrEqual(open);
    // Only the costs above their reservations can exceed the limit, and the limit is used up.
    expect(spent + reserved).toBeLessThanOrEqual(limit + excess);
    expect(spent + reserved).toBeGreaterThan(limit - MAX_BOUND);
    expect(calls).toBeGreaterThan(processes);

    const later = NOW + EXPIRES_IN_SECONDS * 1_000;
    expect(await spendingAt(store, where, later)).toEqual({ spent, reserved: 0 });
    const amount = Math.max(0, limit - spent) / 100;
    const rest = { owner: OWNER, inferenceId: 'the rest', amount, expiresInSeconds: 60 };
    const isFree = await withLedger(store, where, later, (ledger) =>
      ledger.reserve({ ...rest, limits: { day: limit / 100 } }),
    );
    expect(isFree.isReserved).toBe(spent <= limit);
  });

  test('without reservations, each call in progress can exceed the limit by its cost', async () => {
    const where = await location();
    const lines = await spendAll(store, where, plan(FIRST_SEED, false), { processes, deaths: [] });
    const { settled } = sumsOf(lines);
    const { spent, reserved } = await spendingAt(store, where, NOW);
    expect({ spent, reserved }).toEqual({ spent: settled, reserved: 0 });
    expect(spent).toBeGreaterThan(limit);
    expect(spent).toBeLessThanOrEqual(limit + processes * callers * MAX_COST);
  });
});
