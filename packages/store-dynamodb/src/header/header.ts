import type { Instant } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';

/** The size of a session's log. Bytes are counted as stored. */
export interface LogSize {
  /** The number of entries in the segment. */
  readonly entries: number;
  readonly bytes: number;
  /** The bytes of the first write to the segment. */
  readonly base: number;
}

/**
 * The header of a session. It decides which items belong to the session: those that it names, directly or through other
 * items.
 */
export interface Header {
  readonly record: SessionRecord;
  /** The name of the last entry of the log. */
  readonly lastEntry: string;
  readonly log: LogSize;
  /** The head of the content, if it is short. Otherwise the last entry of the log holds it. */
  readonly head: string | undefined;
  /** The unique part of the name of the item that was enqueued last. */
  readonly lastItem: string | undefined;
  /** The unique part of the names of the entries that were put last, by archive. */
  readonly archives: Readonly<Record<string, string>>;
  /**
   * The tokens of the records before this one, newest last. A writer whose reply did not arrive looks for its own token
   * here.
   */
  readonly flips: readonly string[];
  /** The instant at which `prune` checks whether the session has expired. It is not after the expiry. */
  readonly sweepAt: Instant | undefined;
  /** Whether the session has or had a blob. */
  readonly hasBlobs: boolean;
  /**
   * A random text. `prune` replaces it before it deletes blobs, so that the header refuses a stalled writer that may
   * refer to them.
   */
  readonly fence: string | undefined;
}

/** A writer recognises its write in the header until this many other writes have followed. */
const MAX_FLIPS = 3;

/** The `flips` of the next header. */
export function nextFlips({ flips, record }: Header): readonly string[] {
  return [...flips, record.token].slice(-MAX_FLIPS);
}

/**
 * The instant at which `prune` checks the session next. An expiry that each write extends does not change it: `prune`
 * then checks too early, and moves the index entry to the new expiry.
 */
export function nextSweepAt(sweepAt: Instant | undefined, { expiresAt }: SessionRecord): Instant | undefined {
  if (expiresAt === undefined) return undefined;
  return sweepAt === undefined ? expiresAt : Math.min(sweepAt, expiresAt);
}
