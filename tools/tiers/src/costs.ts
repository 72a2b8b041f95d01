import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A test file runs in the first tier whose limit its cost does not reach; without a limit, in `heavy`. */
export type Tier = 'fast' | 'medium' | 'heavy';

/** The costs of the test files, by their path in the repository. */
export interface Costs {
  /** Seconds of processor time from which on a test file is too costly for the tier. */
  readonly limits: Readonly<Record<'fast' | 'medium', number>>;
  /** Test files whose tier does not follow from their cost. */
  readonly exceptions: Readonly<Record<string, { readonly tier: Tier; readonly reason: string }>>;
  /** The seconds of processor time of the test files that take a second or more. */
  readonly seconds: Readonly<Record<string, number>>;
}

export const repository = join(import.meta.dirname, '../../..');
const table = join(repository, 'tools/tiers/costs.json');
/** The table does not name files that cost less. */
const LEAST_SECONDS = 1;
/** A cost that is measured again replaces the one before when it differs by more than this share. */
const NOISE = 0.25;
const GROWTH = 3;

export function readCosts(): Costs {
  return JSON.parse(readFileSync(table, 'utf8'));
}

export function writeCosts(costs: Costs): void {
  writeFileSync(table, `${JSON.stringify(costs, null, 2)}\n`);
}

/** The path of a file in the repository, as the table has it. */
export function pathOf(file: string): string {
  return relative(repository, file).replaceAll('\\', '/');
}

export function tierOf(path: string, { limits, exceptions, seconds }: Costs): Tier {
  const exception = exceptions[path];
  if (exception !== undefined) return exception.tier;
  const cost = seconds[path] ?? 0;
  if (cost < limits.fast) return 'fast';
  return cost < limits.medium ? 'medium' : 'heavy';
}

/** The costs with these measurements in place of earlier ones, and without files that no longer exist. */
export function updatedCosts(costs: Costs, measured: ReadonlyMap<string, number>): Costs {
  const all = { ...costs.seconds };
  for (const [path, seconds] of measured) all[path] = settled(all[path], seconds);
  const kept = Object.entries(all).filter(
    ([path, seconds]) => seconds >= LEAST_SECONDS && existsSync(join(repository, path)),
  );
  return { ...costs, seconds: Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1))) };
}

function settled(before: number | undefined, now: number): number {
  const isNoise = before !== undefined && Math.abs(now - before) <= NOISE * before;
  return isNoise ? before : Math.round(now * 10) / 10;
}

/** Whether a file costs three times as much as the table says, or three seconds where the table says nothing. */
export function hasGrown(path: string, seconds: number, costs: Costs): boolean {
  return seconds > GROWTH * Math.max(costs.seconds[path] ?? 0, LEAST_SECONDS);
}
