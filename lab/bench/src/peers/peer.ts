import type { Job } from './job.ts';

/** A framework that does the job. Each adapter has a file of its own. */
export interface Peer {
  /** One agent for any number of runs, also at the same time. A run returns the final text. */
  agent(job: Job): () => Promise<string | undefined>;
  /** An agent whose model answers with pieces of text. A run passes on each piece as it arrives. */
  streamer(job: Job, pieces: readonly string[]): (onText: (text: string) => void) => Promise<void>;
}
