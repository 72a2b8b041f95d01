import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../not-yet-clean.json');

/** The files that may still have findings. The list may only shrink. */
export const readList = (): readonly string[] => JSON.parse(readFileSync(path, 'utf8'));

export function writeList(files: readonly string[]): void {
  writeFileSync(path, `${JSON.stringify(files, undefined, 2)}\n`);
}

/** The entries of the list that must leave it: their files are clean, or do not exist. */
export function outdatedEntries(list: readonly string[], unclean: ReadonlySet<string>): readonly string[] {
  return list.filter((file) => !unclean.has(file));
}
