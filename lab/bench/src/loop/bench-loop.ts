import { inFreshProcess, machine } from '../process.ts';
import { reportRows, type Row } from '../report.ts';
import { Results } from '../results.ts';
import { shuffler } from '../shuffle.ts';
import { PEERS, type PeerName } from './peers.ts';
import { reportPeers } from './tables.ts';
import { loopTargets } from './targets.ts';
import type { Task } from './worker.ts';
import type { Effort, Metric, Metrics, Workload } from './workloads.ts';

export interface LoopBenchOptions {
  readonly peers: readonly PeerName[];
  /** Orders the processes. */
  readonly seed: number;
  /** Default 5, and 3 in a quick run. */
  readonly rounds?: number | undefined;
  /** Measures for a shorter time; peers without a target once only, and nothing that takes them long. */
  readonly isQuick: boolean;
}

const WORKER = new URL('./worker.ts', import.meta.url);
const LENGTHS = [1, 10, 50, 200, 1_000];
const WORKLOADS: readonly Workload[] = ['steps', 'parallel', 'heap', 'concurrent', 'stream', 'import'];

/** Runs all peers, each workload in a process of its own, and prints what they needed. Returns the targets. */
export async function benchLoop(options: LoopBenchOptions): Promise<readonly Row[]> {
  const { peers, seed, isQuick, rounds = isQuick ? 3 : 5 } = options;
  console.log(`\n# Loop\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const shuffle = shuffler(seed);
  const results = new Results<PeerName, Metric>();
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const workload of shuffle(WORKLOADS)) {
      for (const peer of shuffle(peers.filter((name) => !isQuick || isShort(name, workload, round)))) {
        console.error(`round ${round + 1} of ${rounds}: ${workload}, ${peer}`);
        const task: Task = { peer, workload, ...effortOf(peer, workload, isQuick) };
        await inFreshProcess<Metrics>(WORKER, task).then(
          (metrics) => results.add(round, peer, metrics),
          (error: unknown) => failures.push(`${peer}, ${workload}, round ${round + 1}: ${String(error)}`),
        );
      }
    }
  }
  const targets = loopTargets(results);
  reportRows('Targets', targets);
  reportPeers(results, peers, LENGTHS);
  console.log(`\n${machine()}`);
  for (const failure of failures) console.log(`\nFailed: ${failure}`);
  return targets;
}

function isShort(peer: PeerName, workload: Workload, round: number): boolean {
  return !PEERS[peer].isReference || (round === 0 && workload !== 'concurrent');
}

function effortOf(peer: PeerName, workload: Workload, isQuick: boolean): Effort {
  const longest = isQuick && PEERS[peer].isReference ? 200 : 1_000;
  const shortest = workload === 'heap' ? 200 : 1;
  const lengths = LENGTHS.filter((steps) => steps >= shortest && steps <= longest);
  return { lengths, sampleTime: isQuick ? 150 : 1_500 };
}
