import type { Instant } from '../clock.ts';
import type { ListedSession } from './session-info.ts';
import type { InboxPage, SessionClaim } from './session-claim.ts';

/** The facts about a session that a store holds beside its content. */
export interface SessionInspection {
  /** The session as lists show it. */
  readonly info: ListedSession;
  readonly incarnation: string;
  /** The claim, also one that has expired and was not released; `undefined` without one. */
  readonly claim: SessionClaim | undefined;
  /** The number of the attempt, as in `ClaimedSession.attempt`; 0 after a release. */
  readonly attempt: number;
  /** When a worker must look at the session; `undefined` when none must. */
  readonly dueAt: Instant | undefined;
  readonly expiresAt: Instant | undefined;
  /** The number of items that wait in the inbox. */
  readonly waitingItems: number;
  /** The oldest waiting items, at most 100. */
  readonly inbox: InboxPage;
  readonly sizes: SessionSizes;
}

/** The sizes of a session's parts, in bytes of JSON. */
export interface SessionSizes {
  readonly totalBytes: number;
  /** The state of the unfinished step, and the facts that change with every save. */
  readonly headBytes: number;
  /** The definition, the system prompt, metadata and settings. */
  readonly valueBytes: number;
  /** The lists: the messages of each section, the closed steps. */
  readonly lists: readonly { readonly name: string; readonly length: number; readonly bytes: number }[];
}
