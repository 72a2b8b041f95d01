import type { Instant } from '@holdfast/core';
import type { Header } from './header.ts';
import type { Item } from './item-size.ts';
import { blobPrefix, instantKey } from './keys.ts';
import { isReference } from './large-values.ts';

/**
 * An item that says that there may be a blob, from before it is put until after it is deleted. One without a reference is
 * a ticket: the session is to be looked at.
 */
export interface BlobNote {
  /** What follows the prefix in its key: a reference, or what makes a ticket unique. */
  readonly name: string;
  /** When `prune` looks at it; never again, once it has found the blob in use. */
  readonly sweep: string | undefined;
}

/** A blob that no header refers to from some moment on. */
export interface DyingBlob {
  readonly ref: string;
  /** Is its writer done with it? If not, he may be about to put it, and the note of it must stay. */
  readonly isSettled: boolean;
}

export function notesIn(items: ReadonlyMap<string, Item>, { record }: Header): BlobNote[] {
  const prefix = blobPrefix(record.incarnation);
  return [...items]
    .filter(([sk]) => sk.startsWith(prefix))
    .map(([sk, { sweep }]) => ({ name: sk.slice(prefix.length), sweep: sweep?.S }));
}

/** Has the note been there for a day, so that nobody is still at work on the blob? */
export function isOld({ sweep }: BlobNote, now: Instant): boolean {
  return sweep === undefined || sweep <= instantKey(now);
}

/** Those of the notes whose blobs are not among these. */
export function dyingBlobs(
  notes: readonly BlobNote[],
  live: ReadonlySet<string>,
  isSettled: (note: BlobNote) => boolean,
): DyingBlob[] {
  return notes
    .filter(({ name }) => isReference(name) && !live.has(name))
    .map((note) => ({ ref: note.name, isSettled: isSettled(note) }));
}
