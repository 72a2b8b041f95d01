import { inFreshProcess } from '../process.ts';
import type { Allocations, AllocationTask } from './worker.ts';

// Fails when a step of the plain loop allocates a tenth more than it did when these figures were read. Unlike times they
// are the same on a busy machine: one thread compiles and collects, and the new space always has the same size.

/** The version of Node whose engine the figures are of. */
const NODE = 24;
/** Bytes a step, as `pnpm gate:allocations` has read them. Lower them with the code. */
const FIGURES: Allocations = { allocated: 18_050, promoted: 12 };
const TOLERANCE = 1.1;

const TASK: AllocationTask = { steps: 200, warmUpRuns: 300, runs: 100 };
const FLAGS = [
  '--expose-gc',
  '--single-threaded',
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  '--disable-warning=ExperimentalWarning',
];

const version = Number(process.versions.node.split('.')[0]);
if (version === NODE) {
  const found = await inFreshProcess<Allocations>(new URL('worker.ts', import.meta.url), TASK, FLAGS);
  for (const [name, figure] of Object.entries(FIGURES)) {
    const bytes = found[name as keyof Allocations];
    const isWithin = bytes <= figure * TOLERANCE; // false for NaN
    console.log(`${isWithin ? 'ok' : 'TOO MUCH'}: ${bytes.toFixed(1)} bytes ${name} a step, of ${figure}`);
    if (!isWithin) process.exitCode = 1;
  }
} else console.log(`Skipped: the figures are of Node ${NODE}, and this is Node ${version}.`);
