import type { DocumentReader, Members, Read } from '../json.ts';
import { readCount, readOneOf } from '../json.ts';

/** What every stored document says of itself, around its own members. */
export interface SnapshotEnvelope {
  readonly format: string;
  readonly version: number;
}

/** From version n to n + 1, at index n - 1. Pure; each is proved on frozen files of its version. */
type Migrations = readonly ((document: Members) => Members)[];

/**
 * The kinds of document. The version of each is one more than it has migrations. A release writes the lowest version
 * that can hold a value, so that the release before, which may still be running, can read what does not need the new one.
 */
const FORMATS = {
  'holdfast/agent-state': [],
  'holdfast/agent-session': [],
} as const satisfies Readonly<Record<string, Migrations>>;

/** A kind of document. */
export type SnapshotFormat = 'holdfast/agent-state' | 'holdfast/agent-session';

/** The newest version of a kind that this release knows. */
export function snapshotVersion(format: SnapshotFormat): number {
  return FORMATS[format].length + 1;
}

/** Puts the envelope around a document of the present version. */
export function sealSnapshot(
  format: SnapshotFormat,
  document: object,
): SnapshotEnvelope & Record<string, unknown> {
  return { format, version: snapshotVersion(format), ...document };
}

/**
 * Takes the envelope off and brings the document up to the present version. Fails with `STATE_FORMAT` for another
 * kind of document, and with `STATE_VERSION` for a version that this build does not know; the document is not touched.
 */
export function openSnapshot(reader: DocumentReader, format: SnapshotFormat, value: unknown): Members {
  const { format: _, version: __, ...members } = reader.object(value);
  reader.required(reader.object(value), 'format', readOneOf([format]));
  const version = reader.required(reader.object(value), 'version', readVersion(format));
  const migrations: Migrations = FORMATS[format];
  return migrations.slice(version - 1).reduce<Members>((older, migrate) => migrate(older), members);
}

function readVersion(format: SnapshotFormat): Read<number> {
  return (reader, value) => {
    const version = readCount(reader, value);
    const newest = snapshotVersion(format);
    if (version > newest) {
      const expected = `version ${newest} or older; a newer release wrote this, read it with that release`;
      reader.fail(expected, value, 'STATE_VERSION');
    }
    return version > 0 ? version : reader.fail('a version from 1', value);
  };
}
