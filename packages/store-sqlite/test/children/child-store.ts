import { writeSync } from 'node:fs';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

const STDOUT = 1;

/** The store at the path that the parent process passes as the first argument. */
export function openChildStore(): Promise<SqliteSessionStore> {
  const [, , path = ''] = process.argv;
  return SqliteSessionStore.open({ path, busyTimeoutSeconds: 30 });
}

/** Writes a line to the parent process synchronously, so that a kill of this process does not drop it. */
export function say(line: string | number): void {
  writeSync(STDOUT, `${line}\n`);
}
