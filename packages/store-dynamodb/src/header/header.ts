import type { Instant } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';

/** The size of a session's log, in stored bytes. */
export interface LogSize {
  /** Entries in the segment. */
  readonly entries: number;
  readonly bytes: number;
  /** The bytes with which the segment began. */
  readonly base: number;
}

/** The item that decides what belongs to a session: items that it does not name, directly or through others, do not. */
export interface Header {
  readonly record: SessionRecord;
  /** The name of the last entry of the log. */
  readonly lastEntry: string;
  readonly log: LogSize;
  /** The head of the content, if it is small; otherwise the last entry of the log holds it. */
  readonly head: string | undefined;
  /** The item that was enqueued last, by the unique part of its name. */
  readonly lastItem: string | undefined;
  /** The tokens of the records before this one, newest last. A writer without a reply finds its own token here. */
  readonly flips: readonly string[];
  /** When `prune` looks whether the session has expired: at its expiry or before. */
  readonly sweepAt: Instant | undefined;
  /** Whether a value of the session is or was a blob. */
  readonly hasBlobs: boolean;
  /** Changes each time that `prune` deletes blobs to which a stalled writer may be about to refer. */
  readonly fence: string | undefined;
}

/** So many other writes may follow a write before its writer can no longer recognise it. */
const MAX_FLIPS = 3;

/** The tokens that the next header keeps. */
export function nextFlips({ flips, record }: Header): readonly string[] {
  return [...flips, record.token].slice(-MAX_FLIPS);
}

/**
 * When `prune` looks at the session next. An expiry that slides with each write does not move the index entry: `prune`
 * then looks too early, and moves it.
 */
export function nextSweepAt(sweepAt: Instant | undefined, { expiresAt }: SessionRecord): Instant | undefined {
  if (expiresAt === undefined) return undefined;
  return sweepAt === undefined ? expiresAt : Math.min(sweepAt, expiresAt);
}
