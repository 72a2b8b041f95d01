import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join, matchesGlob } from 'node:path';
import { findingsIn, type Finding } from './check.ts';
import { unusedWords } from './glossary.ts';
import { habits } from './habits.ts';
import { sentencesOfMarkdown } from './markdown.ts';
import { endsOfPaths, missingPaths } from './named-paths.ts';
import { sentencesOfTypeScript } from './typescript.ts';

const repository = join(import.meta.dirname, '../../..');
const MAX_WORDS = 30;
const SHORT_SENTENCES = ['README.md', 'docs/guide/*.md'];
/** The pages for people who change the code: their paths are those of the repository. */
const MAPS = ['AGENTS.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', '**/README.md'];
const CHECKED = ['**/*.md', 'packages/*/src/**', '{apps,lab,tools}/*/src/**', 'apps/examples/*/src/**'];
const UNCHECKED = ['CODE_OF_CONDUCT.md', '**/CHANGELOG.md', 'packages/*/etc/**', 'tools/prose/src/habits.ts'];

const fits = (path: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matchesGlob(path, pattern));
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** The files of the repository that git does not ignore. */
function repositoryFiles(): readonly string[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', options, { cwd: repository, encoding: 'utf8' });
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(repository, path)));
}

/** The files with sentences, by path. */
export function checkedFiles(files = repositoryFiles()): readonly string[] {
  const paths = files.filter((path) => /\.(?:md|tsx?)$/.test(path));
  return paths.filter((path) => fits(path, CHECKED) && !fits(path, UNCHECKED)).toSorted();
}

/** The findings of each file that has findings. */
export function findings(): ReadonlyMap<string, readonly Finding[]> {
  const all = [...habits, ...unusedWords(read('docs/glossary.md'))];
  const files = repositoryFiles();
  const existing = endsOfPaths(files);
  const found = checkedFiles(files).map((path) => {
    const maxWords = fits(path, SHORT_SENTENCES) ? MAX_WORDS : undefined;
    const inSentences = findingsIn(sentencesOfFile(path), { habits: all, maxWords });
    return [
      path,
      fits(path, MAPS) ? [...inSentences, ...missingPaths(read(path), existing)] : inSentences,
    ] as const;
  });
  return new Map(found.filter(([, { length }]) => length > 0));
}

function sentencesOfFile(path: string) {
  const text = read(path);
  return extname(path) === '.md' ? sentencesOfMarkdown(text) : sentencesOfTypeScript(path, text);
}
