import type { AgentState, Message } from '@holdfast/core';

/** The data that a step adds to the run, in the forms that stores accept. */
export interface RunStep {
  /** Counted from 0. */
  readonly index: number;
  /** The state after it. */
  readonly state: AgentState;
  /** The messages since the step before. */
  readonly messages: readonly Message[];
  /** The step as it stands in the document. */
  readonly step: object;
  /** The state as a JSON document: what a store of whole documents is given. */
  readonly document: object;
}

/** The places where a store can keep the run. */
export interface StorePlace {
  /** A database of its own on the one Redis server. */
  readonly url: string;
  /** A folder of its own. */
  readonly folder: string;
}

/** A store that keeps one run. An adapter is a function that opens one, in a file of its own. */
export interface StorePeer {
  /** Creates the values of a framework after a step, and returns the function that saves them: only that is timed. */
  prepare(step: RunStep): () => Promise<unknown>;
  /** The number of messages in the run that it loads. */
  messages(): Promise<number>;
  close(): Promise<unknown>;
}
