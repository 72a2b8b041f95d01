import { matchesGlob } from 'node:path';
import type { InlineCode } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { visit } from 'unist-util-visit';
import type { Finding } from './check.ts';

/** Paths that a reader or a program makes. */
const MADE_LATER = new Set([
  'agents/writer.md',
  'apps/examples/try.ts',
  'packages/store-mongodb',
  'src/content/docs',
]);
const PATH = /^\.?[\w*-][\w.*-]*(?:\/[\w.*-]+)*$/;
const PLACEHOLDER = /\b(?:FILE|NAME|PACKAGE)\b/;
const AT_ROOT = /^(?:apps|docs|lab|packages|src|test|tools)\//;
const MODULE = /\w\.(?:lua|mjs|tsx?)$/;
const DOCUMENT = /\/[\w.-]+\.(?:json|md|ya?ml)$/;

/** All files and folders of a repository, each by its path and by every end of its path. */
export function endsOfPaths(files: readonly string[]): ReadonlySet<string> {
  const ends = new Set<string>();
  for (const file of files) {
    const names = file.split('/');
    for (let end = 1; end <= names.length; end++)
      for (let start = 0; start < end; start++) ends.add(names.slice(start, end).join('/'));
  }
  return ends;
}

/** The paths in the inline code of a page that are not the end of an existing path. */
export function missingPaths(markdown: string, existing: ReadonlySet<string>): readonly Finding[] {
  const found: Finding[] = [];
  visit(fromMarkdown(markdown), 'inlineCode', ({ value, position }: InlineCode) => {
    for (const path of pathsIn(value))
      if (!isNamed(path, existing))
        found.push({ line: position?.start.line ?? 1, message: `\`${path}\` does not exist.` });
  });
  return found;
}

function pathsIn(code: string): readonly string[] {
  const words = code.split(/\s+/).map((word) => word.replace(/\/$/, ''));
  return words.filter(
    (word) =>
      PATH.test(word) &&
      !PLACEHOLDER.test(word) &&
      !MADE_LATER.has(word) &&
      (AT_ROOT.test(word) || MODULE.test(word) || DOCUMENT.test(word)),
  );
}

function isNamed(path: string, existing: ReadonlySet<string>): boolean {
  return path.includes('*') ? [...existing].some((end) => matchesGlob(end, path)) : existing.has(path);
}
