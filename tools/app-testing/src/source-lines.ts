import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the number of lines below a folder, without blank lines and comments that have a line of their own. */
export function sourceLines(folder: string): number {
  const texts = globSync('**/*.{ts,tsx}', { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  );
  return texts.flatMap((text) => text.split('\n')).filter((line) => !/^\s*($|\/[/*])/.test(line)).length;
}
