import type { DocumentReader, Members, Read } from '../../document.ts';
import { readCount, readOneOf } from '../../document.ts';

/** What every stored document says of itself, around its own members. */
export interface SnapshotEnvelope {
  readonly format: string;
  readonly version: number;
}

/**
 * The kinds of document and the newest version of each. A later version adds members to the one before, so one reader
 * reads all of them; what an older version allowed and a newer one does not is repaired after it was read. A release
 * writes the lowest version that can hold a value, so that the release before, which may still be running, can read
 * what does not need the new one.
 */
const NEWEST_VERSIONS = {
  'holdfast/agent-state': 2,
  'holdfast/agent-session': 1,
} as const;

/** A kind of document. */
export type SnapshotFormat = 'holdfast/agent-state' | 'holdfast/agent-session';

/** The newest version of a kind that this release knows. */
export function snapshotVersion(format: SnapshotFormat): number {
  return NEWEST_VERSIONS[format];
}

/** Puts the envelope around a document; `version` is the lowest that can hold it. */
export function sealSnapshot(
  format: SnapshotFormat,
  version: number,
  document: object,
): SnapshotEnvelope & Record<string, unknown> {
  return { format, version, ...document };
}

/**
 * Takes the envelope off, and tells the reader the version of the document. Fails with `STATE_FORMAT` for another kind
 * of document, and with `STATE_VERSION` for a version that this build does not know; the document is not touched.
 */
export function openSnapshot(reader: DocumentReader, format: SnapshotFormat, value: unknown): Members {
  const { format: _, version: __, ...members } = reader.object(value);
  reader.required(reader.object(value), 'format', readOneOf([format]));
  reader.version = reader.required(reader.object(value), 'version', readVersion(format));
  return members;
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
