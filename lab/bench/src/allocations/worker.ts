import { getHeapSpaceStatistics } from 'node:v8';
import { Job } from '../peers/job.ts';
import { core } from '../peers/core.ts';

/** Bytes a step. */
export interface Allocations {
  /** All that is allocated. */
  readonly allocated: number;
  /** Bytes that the garbage collector moves to the old space as long-lived. A finished run should leave none there. */
  readonly promoted: number;
}

/** The work to measure, by number of runs and not by time: V8 then optimises the same code at the same moment each time. */
export interface AllocationTask {
  readonly steps: number;
  readonly warmUpRuns: number;
  readonly runs: number;
}

function usedIn(space: RegExp): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => space.test(name));
  return spaces.reduce((sum, { space_used_size: used }) => sum + used, 0);
}

// The parent wrote the argument.
const { steps, warmUpRuns, runs } = JSON.parse(process.argv[2] ?? '') as AllocationTask;
const job = new Job({ steps });
const run = core.agent(job);
const texts: unknown[] = [];

async function runTimes(count: number): Promise<void> {
  for (let done = 0; done < count; done++) texts.push(await run());
}

/** Of two runs after a collection, which the new space has room for. */
async function allocatedByTwo(): Promise<number> {
  globalThis.gc?.();
  const before = usedIn(/^new_space/);
  await runTimes(2);
  return usedIn(/^new_space/) - before;
}

await runTimes(warmUpRuns);
const samples: number[] = [];
for (let sample = 0; sample < 9; sample++) samples.push(await allocatedByTwo());
const middle = samples.toSorted((left, right) => left - right)[4] ?? NaN;

globalThis.gc?.();
globalThis.gc?.();
const before = usedIn(/^(?:old|large_object)/);
await runTimes(runs);
const promoted = usedIn(/^(?:old|large_object)/) - before;

job.verify(texts);
const allocations: Allocations = { allocated: middle / 2 / steps, promoted: promoted / runs / steps };
process.send?.(allocations, () => process.exit());
