import type { Instant } from '@holdfast/core';
import type { Item } from '../table/item.ts';
import { instantKey } from '../table/keys.ts';
import { blobNotePrefix } from './blob-keys.ts';
import { isReference } from './references.ts';

/**
 * A note about the blobs of an incarnation. A note whose name is a reference records that this blob may exist: it is
 * written before the put and deleted after the delete. A note with another name is a ticket: it records that blobs are
 * about to become unused.
 */
export interface BlobNote {
  /** The part of the sort key after the prefix: a reference, or a random text for a ticket. */
  readonly name: string;
  /** The key of the instant at which `prune` examines the note. Absent after `prune` found that the blob is in use. */
  readonly sweep: string | undefined;
}

/** A blob to which no header will refer. */
export interface UnusedBlob {
  readonly reference: string;
  /**
   * Whether the writer of the blob has finished. If it is `false`, the writer may still put the blob, so its note must
   * stay.
   */
  readonly isSettled: boolean;
}

/** Returns whether a note is at least a day old. No writer is expected to work on its blob any more. */
export function isOldNote({ sweep }: BlobNote, now: Instant): boolean {
  return sweep === undefined || sweep <= instantKey(now);
}

/** The blobs that notes name and that are not in `inUse`. */
export function unusedBlobs(
  notes: readonly BlobNote[],
  inUse: ReadonlySet<string>,
  isSettled: (note: BlobNote) => boolean,
): UnusedBlob[] {
  return notes
    .filter(({ name }) => isReference(name) && !inUse.has(name))
    .map((note) => ({ reference: note.name, isSettled: isSettled(note) }));
}

/**
 * The names of tickets. The query for an incarnation also returns notes of incarnations whose names begin with its
 * name; their names contain `#` and are omitted.
 */
export function ticketsIn(notes: readonly BlobNote[]): string[] {
  return notes.map(({ name }) => name).filter((name) => !isReference(name) && !name.includes('#'));
}

/** The blob notes and tickets of an incarnation among `items`. */
export function notesIn(items: Iterable<Item>, incarnation: string): BlobNote[] {
  const prefix = blobNotePrefix(incarnation);
  return [...items]
    .filter(({ sk }) => sk?.S?.startsWith(prefix))
    .map(({ sk, sweep }) => ({ name: sk?.S?.slice(prefix.length) ?? '', sweep: sweep?.S }));
}
