import { machine, measured } from '../process.ts';
import { reportRows, type Row } from '../report.ts';
import { Results } from '../results.ts';
import type { RedisCosts } from './measure-redis.ts';
import type { RunCosts } from './measure-saves.ts';
import type { StoreName } from './store-peers.ts';
import { addCosts, addRedisCosts, type StoreResults } from './store-results.ts';
import { reportStores } from './store-tables.ts';
import { storeTargets } from './store-targets.ts';
import type { StoreTask } from './store-worker.ts';

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
const REDIS_STEPS = 200;

/**
 * Saves runs in all stores, each length in a process of its own, asks the server what its part was, and prints what that
 * cost. Returns the targets.
 */
export async function benchStores(options: StoreBenchOptions): Promise<readonly Row[]> {
  const { names, seed, isQuick, rounds = isQuick ? 1 : 3 } = options;
  const { steps: lengths = isQuick ? [50, 200] : [50, 200, 500] } = options;
  console.log(`\n# Stores\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const bench = new StoreBench();
  for (let round = 0; round < rounds; round++) {
    const order = { seed: seed + round };
    for (const steps of lengths) {
      await bench.save(round, { measure: 'saves', names, steps, warmUp: WARM_UP_STEPS, ...order });
    }
    if (!names.includes('store-redis')) continue;
    await bench.askServer(round, { measure: 'redis', runs: isQuick ? 2 : 8, steps: REDIS_STEPS, ...order });
  }
  const targets = storeTargets(bench.results, lengths);
  reportRows('Targets', targets);
  reportStores(bench.results, names, lengths);
  console.log(`\n${machine()}`);
  for (const note of bench.notes) console.log(`\n${note}`);
  return targets;
}

/** The measurements of all rounds. */
class StoreBench {
  readonly results: StoreResults = new Results();
  /** The notes of the report, each once. */
  readonly notes = new Set<string>();

  async save(round: number, task: Extract<StoreTask, { measure: 'saves' }>): Promise<void> {
    const { steps } = task;
    const costs = await measured<RunCosts>(
      `stores, round ${round + 1}: ${steps} steps`,
      WORKER,
      task,
      this.notes,
    );
    if (!costs) return;
    addCosts(this.results, round, steps, costs);
    for (const [name, reason] of Object.entries(costs.skipped)) {
      this.notes.add(`Skipped: ${name}: ${reason}`);
    }
  }

  async askServer(round: number, task: Extract<StoreTask, { measure: 'redis' }>): Promise<void> {
    const costs = await measured<RedisCosts>(
      `stores, round ${round + 1}: the server`,
      WORKER,
      task,
      this.notes,
    );
    if (!costs) return;
    addRedisCosts(this.results, round, costs);
    this.notes.add(`Server: ${costs.server}`);
  }
}
