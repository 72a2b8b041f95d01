import { readFileSync } from 'node:fs';

/** The beginning of a row: all of it with a comment after it, or a brace with comments below. */
const ROW = /^ {2}(?:\w+: )?\{(?:.* \},((?: \/\/ .*)?)|((?:\n {4}\/\/ .*)*))$/gm;

/**
 * The comment of each row of a table, which names its sources. The table is a constant of a module in `src`. Applications bundle
 * the tables, and have no use for sources.
 */
export function sourceNotes(module: string, table: string): readonly string[] {
  const text = readFileSync(new URL(`../src/${module}`, import.meta.url), 'utf8');
  const [, rows = ''] = text.split(`export const ${table}`);
  const [body = ''] = rows.split(/^[\]}]/m, 1);
  return Array.from(body.matchAll(ROW), ([, after = '', below = '']) =>
    `${after}${below}`.replaceAll(/\s*\/\/ /g, ' ').trim(),
  );
}
