import { mustBe, openableChecks, type OpenableChecks, type OptionChecks } from '@holdfast/core/store';
import { openDatabase } from './open-database.ts';
import type { DatabaseLayout } from './schema.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

const DEFAULT_BUSY_TIMEOUT_SECONDS = 5;
const MAX_BUSY_TIMEOUT_SECONDS = 2_000_000;

/** The option of a class that uses a database of the caller. */
interface GivenDatabase {
  readonly database: SqliteDatabase;
}

/** The options of a class that opens a file of its own. */
interface OwnFile {
  readonly path: string;
  readonly busyTimeoutSeconds?: number | undefined;
}

type DatabaseChecks<Options> = OpenableChecks<Options, GivenDatabase, OwnFile>;

const OWN_FILE: OptionChecks<OwnFile> = {
  path: mustBe.required({
    expected: 'the path of a file, or ":memory:"',
    accepts: (value) => typeof value === 'string' && value !== '',
    type: 'string',
  }),
  busyTimeoutSeconds: mustBe.number(0, MAX_BUSY_TIMEOUT_SECONDS),
};
const SYNONYMS = {
  file: 'path',
  filename: 'path',
  url: 'path',
  db: 'database',
  timeout: 'busyTimeoutSeconds',
};

/** Creates the checks of a class on a database. */
export function databaseChecks<Options extends object>(
  name: string,
  common: OptionChecks<Options>,
  advice: Readonly<Record<string, string>> = {},
): DatabaseChecks<Options> {
  const expected = `an open DatabaseSync, or use ${name}.open({ path })`;
  const given: OptionChecks<GivenDatabase> = {
    database: mustBe.required(mustBe.objectWith(expected, ['exec', 'prepare'])),
  };
  return openableChecks(name, { common, given, own: OWN_FILE, synonyms: SYNONYMS, advice });
}

/** Opens a file, and creates a value that uses the file and closes it. When that fails, the file is closed. */
export async function openOnFile<Options extends object, T>(
  checks: DatabaseChecks<Options>,
  options: Options & OwnFile,
  layout: DatabaseLayout,
  create: (options: Omit<Options & OwnFile, keyof OwnFile> & GivenDatabase) => T,
): Promise<T> {
  const { path, busyTimeoutSeconds = DEFAULT_BUSY_TIMEOUT_SECONDS, ...rest } = checks.ofOpen(options);
  const database = openDatabase(path, busyTimeoutSeconds, layout);
  try {
    return create({ ...rest, database });
  } catch (error) {
    database.close();
    throw error;
  }
}
