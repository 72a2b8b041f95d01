import type { Instant } from '@holdfast/core';
import type { Item } from '../table/item.ts';
import { instantKey } from '../table/keys.ts';
import { blobNotePrefix } from './blob-keys.ts';
import { isReference } from './references.ts';

/**
 * A note about blobs of an incarnation. Named by a reference, it says that this blob may exist: it is there from before
 * the put until after the delete. Under another name it is a ticket: it says that blobs are about to lose their header.
 */
export interface BlobNote {
  /** What follows the prefix in the sort key: a reference, or a random text. */
  readonly name: string;
  /** When `prune` looks at the note; absent once `prune` has found the blob in use. */
  readonly sweep: string | undefined;
}

/** A blob to which no header will refer. */
export interface UnusedBlob {
  readonly reference: string;
  /** Whether its writer is done with it. If not, the writer may be about to put it, and its note must stay. */
  readonly isSettled: boolean;
}

/** Whether a note is a day old, so that no writer is still working on its blob. */
export function isOldNote({ sweep }: BlobNote, now: Instant): boolean {
  return sweep === undefined || sweep <= instantKey(now);
}

/** The blobs of notes, without those that are in use. */
export function unusedBlobs(
  notes: readonly BlobNote[],
  inUse: ReadonlySet<string>,
  isSettled: (note: BlobNote) => boolean,
): UnusedBlob[] {
  return notes
    .filter(({ name }) => isReference(name) && !inUse.has(name))
    .map((note) => ({ reference: note.name, isSettled: isSettled(note) }));
}

/** The names of tickets. A name with `#` belongs to an incarnation whose name begins like this one's. */
export function ticketsIn(notes: readonly BlobNote[]): string[] {
  return notes.map(({ name }) => name).filter((name) => !isReference(name) && !name.includes('#'));
}

/** The notes of an incarnation among items. */
export function notesIn(items: Iterable<Item>, incarnation: string): BlobNote[] {
  const prefix = blobNotePrefix(incarnation);
  return [...items]
    .filter(({ sk }) => sk?.S?.startsWith(prefix))
    .map(({ sk, sweep }) => ({ name: sk?.S?.slice(prefix.length) ?? '', sweep: sweep?.S }));
}
