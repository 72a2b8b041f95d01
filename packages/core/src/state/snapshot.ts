import { readCount, readOneOf, type DocumentReader, type Members, type Read } from '../document.ts';

/** The members that every stored document has beside its own: its format and version. */
export interface SnapshotEnvelope {
  readonly format: string;
  readonly version: number;
}

/**
 * The formats of documents and the newest version of each. A later version adds members to the version before, so one
 * reader reads all versions. Values that only an older version allowed are repaired after reading. A release writes the
 * lowest version that can hold a value, because the release before may still be running and must read it if it can.
 */
const NEWEST_VERSIONS = {
  'holdfast/agent-state': 2,
  'holdfast/agent-session': 2,
} as const;

/** The format of a document. */
export type SnapshotFormat = 'holdfast/agent-state' | 'holdfast/agent-session';

/** Returns the newest version of a format that this release can read. */
export function snapshotVersion(format: SnapshotFormat): number {
  return NEWEST_VERSIONS[format];
}

/** Returns a document with its envelope; `version` is the lowest version that can hold it. */
export function sealSnapshot(
  format: SnapshotFormat,
  version: number,
  document: object,
): SnapshotEnvelope & Record<string, unknown> {
  return { format, version, ...document };
}

/**
 * Returns the members of a document without its envelope, and sets the version of the reader. Fails with `STATE_FORMAT`
 * for another format, and with `STATE_VERSION` for a version that this release cannot read. Does not change the
 * document.
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
      const expected = `version ${newest} or older (a newer release wrote the document: read it with that release)`;
      reader.fail(expected, value, 'STATE_VERSION');
    }
    return version > 0 ? version : reader.fail('a version of at least 1', value);
  };
}
