import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join, matchesGlob } from 'node:path';
import { findingsIn, type Finding } from './check.ts';
import { unusedWords } from './glossary.ts';
import { habits } from './habits.ts';
import { sentencesOfMarkdown } from './markdown.ts';
import { sentencesOfTypeScript } from './typescript.ts';

const repository = join(import.meta.dirname, '../../..');
const MAX_WORDS = 30;
const SHORT_SENTENCES = ['README.md', 'docs/guide/*.md'];
const CHECKED = ['**/*.md', 'packages/*/src/**', '{apps,lab,tools}/*/src/**', 'apps/examples/*/src/**'];
const UNCHECKED = ['CODE_OF_CONDUCT.md', '**/CHANGELOG.md', 'packages/*/etc/**', 'tools/prose/src/habits.ts'];

const fits = (path: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matchesGlob(path, pattern));
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** The files with sentences that are not ignored by git, by path. */
export function checkedFiles(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
  });
  const paths = listed
    .split('\n')
    .filter((path) => /\.(?:md|tsx?)$/.test(path) && existsSync(join(repository, path)));
  return paths.filter((path) => fits(path, CHECKED) && !fits(path, UNCHECKED)).toSorted();
}

/** The findings of each file that has findings. */
export function findings(): ReadonlyMap<string, readonly Finding[]> {
  const all = [...habits, ...unusedWords(read('docs/glossary.md'))];
  const found = checkedFiles().map((path) => {
    const maxWords = fits(path, SHORT_SENTENCES) ? MAX_WORDS : undefined;
    return [path, findingsIn(sentencesOfFile(path), { habits: all, maxWords })] as const;
  });
  return new Map(found.filter(([, { length }]) => length > 0));
}

function sentencesOfFile(path: string) {
  const text = read(path);
  return extname(path) === '.md' ? sentencesOfMarkdown(text) : sentencesOfTypeScript(path, text);
}
