import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { blocksOf, fileNameOf, fileTextOf, type Block } from './blocks.ts';

export const app = join(import.meta.dirname, '..');
export const repository = join(app, '../..');

/** A page of the docs that shows programs. */
export interface Page {
  /** Its path in the repository. */
  readonly path: string;
  readonly blocks: readonly Block[];
}

/** Decisions are pages of their day: their code is not kept up. */
const PAGES = [
  '*.md',
  'docs/**/*.md',
  'packages/*/README.md',
  '{apps,lab,tools}/*/README.md',
  'apps/examples/*/README.md',
];

/** The pages with programs, by path. @throws Error for a block that the tests cannot check, with its page. */
export function allPages(): readonly Page[] {
  const paths = globSync(PAGES, { cwd: repository, exclude: ['docs/decisions/**'] }).toSorted();
  return paths.map(readPage).filter(({ blocks }) => blocks.some(({ language }) => language === 'ts'));
}

function readPage(path: string): Page {
  try {
    return { path, blocks: withFilesOfTheirOwn(blocksOf(readFileSync(join(repository, path), 'utf8'))) };
  } catch (cause) {
    throw new Error(`${path}: ${String(cause)}`, { cause });
  }
}

function withFilesOfTheirOwn(blocks: readonly Block[]): readonly Block[] {
  const titles = blocks.flatMap(({ title }) => title ?? []);
  const twice = titles.find((title, index) => titles.indexOf(title) !== index);
  if (twice !== undefined) throw new Error(`Two blocks have the title ${twice}.`);
  return blocks;
}

/** Writes the files of pages, each page's to a folder with its path. */
export async function writePages(pages: readonly Page[], folder: string): Promise<void> {
  for (const { path, blocks } of pages) {
    for (const block of blocks) {
      const name = fileNameOf(block);
      if (name !== undefined) await writeFileAt(join(folder, path, name), fileTextOf(block));
    }
  }
}

async function writeFileAt(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
