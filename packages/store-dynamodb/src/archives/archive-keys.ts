import { padNumber, type IncarnationKey } from '../table/keys.ts';

/** Identifies an archive of one incarnation of a session. */
export interface ArchiveKey extends IncarnationKey {
  readonly archive: string;
}

/** The name of an archive entry. The sort keys of its rows contain it. */
export interface ArchiveEntryName {
  readonly position: number;
  /** A random text. All entries that one save puts have the same one, and no other entry has it. */
  readonly unique: string;
  /** The number of the entry's rows. */
  readonly parts: number;
}

const POSITION_LENGTH = 16;

/** The prefix of the sort keys of the rows of an incarnation's archives. */
export function archivesPrefix(incarnation: string): string {
  return `R#${incarnation}#`;
}

/** The prefix of the sort keys of the rows of one archive. They sort by position. */
export function archivePrefix({ incarnation, archive }: Omit<ArchiveKey, 'pk'>): string {
  return `${archivesPrefix(incarnation)}${archive}#`;
}

/** The prefix of the sort keys of the rows of one position. The rows of all lower positions sort before it. */
export function entryPrefix(key: Omit<ArchiveKey, 'pk'>, position: number): string {
  return archivePrefix(key) + padNumber(position, POSITION_LENGTH);
}

/** The name of an entry in the sort keys of its rows, after `archivePrefix`. */
export function archiveEntryName({ position, unique, parts }: ArchiveEntryName): string {
  return `${padNumber(position, POSITION_LENGTH)}#${unique}#${parts}`;
}

const ROW = /^(?<position>\d{16})#(?<unique>[^#]+)#(?<parts>\d+)#\d{4}$/u;

/** The name of the entry of a row; `undefined` for the sort key of another item. */
export function entryNameIn(prefix: string, sk: string): ArchiveEntryName | undefined {
  const { position, unique = '', parts } = ROW.exec(sk.slice(prefix.length))?.groups ?? {};
  return position === undefined ? undefined : { position: Number(position), unique, parts: Number(parts) };
}
