import { PEERS, type PeerName } from './peers.ts';
import { measure, type Effort, type Workload } from './workloads.ts';

/** The task of a process. */
export interface Task extends Effort {
  readonly peer: PeerName;
  readonly workload: Workload;
}

// The parent wrote the argument.
const { peer, workload, ...effort } = JSON.parse(process.argv[2] ?? '') as Task;
const metrics = await measure(workload, PEERS[peer], effort);
process.send?.(metrics, () => process.exit());
