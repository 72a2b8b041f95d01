import { sha256, type IncarnationKey } from '../table/keys.ts';

/** The prefix of the sort keys of an incarnation's blob notes and tickets. */
export function blobNotePrefix(incarnation: string): string {
  return `B#${incarnation}#`;
}

export function isBlobNote(sk: string): boolean {
  return sk.startsWith('B#');
}

/** The incarnation in the sort key of a blob note or a ticket. */
export function incarnationOfBlobNote(sk: string): string {
  return sk.slice(2, sk.lastIndexOf('#'));
}

/** The key of a blob in the blob store: a hash of its session and incarnation, then its reference. */
export function blobKey({ pk, incarnation }: IncarnationKey, reference: string): string {
  return `${sha256(JSON.stringify([pk, incarnation])).toString('hex')}/${reference}`;
}
