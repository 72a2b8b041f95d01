import type { Job } from './job.ts';

/** A framework, made to do the job. An adapter is one of these, in a file of its own. */
export interface Peer {
  /** One agent for any number of runs, also at the same time. A run gives the final text. */
  agent(job: Job): () => Promise<string | undefined>;
  /** An agent whose model answers with pieces of text. A run tells every piece as it comes. */
  streamer(job: Job, pieces: readonly string[]): (onText: (text: string) => void) => Promise<void>;
}
