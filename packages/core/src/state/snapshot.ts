import { describeValue, StateFormatError } from '../errors.ts';

/** The version that is written. */
export const SNAPSHOT_VERSION = 1;

/** What every stored document says of itself, around its own members. */
export interface SnapshotEnvelope {
  readonly format: string;
  readonly version: number;
}

type Document = Readonly<Record<string, unknown>>;

/** From version n to n + 1, at index n - 1. Pure; each is proved on frozen files of its version. */
const MIGRATIONS: readonly ((document: Document) => Document)[] = [];

/** Puts the envelope around a document of the present version. */
export function sealSnapshot(format: string, document: object): SnapshotEnvelope & Record<string, unknown> {
  return { format, version: SNAPSHOT_VERSION, ...document };
}

/**
 * Takes the envelope off and brings the document up to the present version.
 * @throws StateFormatError `STATE_FORMAT` for another kind of document, `STATE_VERSION` for a version that this
 * build does not know. The stored document is not touched.
 */
export function openSnapshot(format: string, document: unknown): Document {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new StateFormatError('$', `a document of format "${format}"`, describeValue(document));
  }
  const { format: foundFormat, version, ...members } = document as Record<string, unknown>;
  if (foundFormat !== format) {
    throw new StateFormatError('$.format', `"${format}"`, describeValue(foundFormat));
  }
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
    throw new StateFormatError('$.version', 'a version number', describeValue(version));
  }
  if (version > SNAPSHOT_VERSION) {
    const expected = `version ${SNAPSHOT_VERSION} or older; a newer release wrote this, read it with that release`;
    throw new StateFormatError('$.version', expected, `version ${version}`, 'STATE_VERSION');
  }
  return MIGRATIONS.slice(version - 1).reduce((older, migrate) => migrate(older), members as Document);
}
