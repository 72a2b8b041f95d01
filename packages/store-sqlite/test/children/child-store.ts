import { writeSync } from 'node:fs';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

const STDOUT = 1;

/** The store that the parent process asked for, in its first argument. */
export function openChildStore(): Promise<SqliteSessionStore> {
  const [, , path = ''] = process.argv;
  return SqliteSessionStore.open({ path, busyTimeoutSeconds: 30 });
}

/** Tells the parent process something, at once and for good: a killed process has said it. */
export function say(line: string | number): void {
  writeSync(STDOUT, `${line}\n`);
}
