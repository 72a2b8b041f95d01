import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { NOT_CONVERTED } from '../../src/pages/not-converted.ts';
import { app, repository } from '../../src/pages/pages.ts';

/** A text and where it stands, for messages. */
export interface Named {
  readonly name: string;
  readonly text: string;
}

export const agentsFolder = join(app, 'agents');

/** The programs, by path. */
export const programs: readonly string[] = globSync('src/*.ts', { cwd: app })
  .toSorted()
  .map((path) => join(app, path));

/** All that a page may show: the regions of the programs, programs without regions, and files of definitions. */
export function examples(): readonly Named[] {
  const definitions = globSync('agents/*', { cwd: app }).map((path) => join(app, path));
  return [...programs, ...definitions].flatMap((path) => {
    const [text, name] = [readFileSync(path, 'utf8'), relative(repository, path)];
    const regions = regionsOf(text).map((region) => ({ ...region, name: `${name}#${region.name}` }));
    return regions.length > 0 ? regions : { name, text: text.trimEnd() };
  });
}

function regionsOf(text: string): readonly Named[] {
  const regions = text.matchAll(/^ *\/\/ #region (\S+)\n([^]*?)\n *\/\/ #endregion$/gm);
  return [...regions].map(([, name = '', lines = '']) => ({ name, text: unindented(lines) }));
}

function unindented(lines: string): string {
  const indent = /^ */.exec(lines)?.[0] ?? '';
  return lines.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

/** The blocks of the pages that are not converted, named by page and line. */
export function blocks(): readonly Named[] {
  return NOT_CONVERTED.flatMap((page) => {
    const text = readFileSync(join(repository, page), 'utf8');
    return [...text.matchAll(/^```(?:ts|tsx|js|md|ya?ml|json)\n([^]*?)\n```$/gm)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      return { name: `${page}:${line}`, text: match[1] ?? '' };
    });
  });
}
