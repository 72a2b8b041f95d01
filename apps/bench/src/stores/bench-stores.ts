import { inFreshProcess, machine } from '../process.ts';
import { reportRows } from '../report.ts';
import { Results } from '../results.ts';
import type { RunCosts, SavesOptions } from './measure-saves.ts';
import type { StoreName } from './store-peers.ts';
import type { StoreResults } from './store-results.ts';
import { addCosts } from './store-results.ts';
import { reportStores } from './store-tables.ts';
import { storeTargets } from './store-targets.ts';

export interface StoreBenchOptions {
  readonly names: readonly StoreName[];
  /** Orders the stores. */
  readonly seed: number;
  /** Default 3, and 1 in a quick run. */
  readonly rounds?: number | undefined;
  /** How long the runs are; default 50, 200 and 500, and 50 and 200 in a quick run. */
  readonly steps?: readonly number[] | undefined;
  readonly isQuick: boolean;
}

const WORKER = new URL('./store-worker.ts', import.meta.url);
const WARM_UP_STEPS = 60;

/** Saves runs in all stores, each length in a process of its own, and prints what that cost. */
export async function benchStores(options: StoreBenchOptions): Promise<void> {
  const { names, seed, isQuick, rounds = isQuick ? 1 : 3 } = options;
  const { steps: lengths = isQuick ? [50, 200] : [50, 200, 500] } = options;
  console.log(`\n# Stores\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const results: StoreResults = new Results();
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const steps of lengths) {
      console.error(`round ${round + 1} of ${rounds}: ${steps} steps`);
      const task: SavesOptions = { names, steps, warmUp: WARM_UP_STEPS, seed: seed + round };
      await inFreshProcess<RunCosts>(WORKER, task).then(
        (costs) => addCosts(results, round, steps, costs),
        (error: unknown) => failures.push(`${steps} steps, round ${round + 1}: ${String(error)}`),
      );
    }
  }
  reportRows('Targets', storeTargets(results, lengths));
  reportStores(results, names, lengths);
  console.log(`\n${machine()}`);
  for (const failure of failures) console.log(`\nFailed: ${failure}`);
}
