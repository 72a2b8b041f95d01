import type { DocumentReader, Members, Read } from '../json.ts';
import { readCount, readOneOf } from '../json.ts';

/** The version that is written. */
export const SNAPSHOT_VERSION = 1;

/** What every stored document says of itself, around its own members. */
export interface SnapshotEnvelope {
  readonly format: string;
  readonly version: number;
}

/** From version n to n + 1, at index n - 1. Pure; each is proved on frozen files of its version. */
const MIGRATIONS: readonly ((document: Members) => Members)[] = [];

/** Puts the envelope around a document of the present version. */
export function sealSnapshot(format: string, document: object): SnapshotEnvelope & Record<string, unknown> {
  return { format, version: SNAPSHOT_VERSION, ...document };
}

/**
 * Takes the envelope off and brings the document up to the present version. Fails with `STATE_FORMAT` for another
 * kind of document, and with `STATE_VERSION` for a version that this build does not know; the document is not touched.
 */
export function openSnapshot(reader: DocumentReader, format: string, value: unknown): Members {
  const { format: _, version: __, ...members } = reader.object(value);
  reader.required(reader.object(value), 'format', readOneOf([format]));
  const version = reader.required(reader.object(value), 'version', readVersion);
  return MIGRATIONS.slice(version - 1).reduce<Members>((older, migrate) => migrate(older), members);
}

const readVersion: Read<number> = (reader, value) => {
  const version = readCount(reader, value);
  if (version > SNAPSHOT_VERSION) {
    const expected = `version ${SNAPSHOT_VERSION} or older; a newer release wrote this, read it with that release`;
    reader.fail(expected, value, 'STATE_VERSION');
  }
  return version > 0 ? version : reader.fail('a version from 1', value);
};
