import { rm } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { outputOf, type Block } from '../src/blocks.ts';
import { allPages, type Page } from '../src/pages.ts';
import { createProject } from '../src/project.ts';
import { typeErrors } from '../src/type-check.ts';
import { programsOf, startPrograms } from './programs.ts';

const project = await createProject();
const errors = await typeErrors(project);
const pages = allPages();
const programs = startPrograms(pages, project);

afterAll(async () => {
  await programs.ended;
  await rm(project, { recursive: true });
});

test('the packages compile for users', () => {
  expect(messagesOf('')).toEqual([]);
});

describe.each(named(pages))('%s', (path, page) => {
  test('compiles', () => {
    expect(messagesOf(path)).toEqual([]);
  });

  test.for(numbered(programsOf(page)))(
    'the program at line %i prints its comments',
    { timeout: 900_000 },
    async ([line, block]) => {
      expect(await programs.printed(block), `${path}:${line}`).toBe(outputOf(block));
    },
  );
});

function named(found: readonly Page[]): readonly [string, Page][] {
  return found.map((page) => [page.path, page]);
}

function numbered(blocks: readonly Block[]): readonly [number, Block][] {
  return blocks.map((block) => [block.line, block]);
}

function messagesOf(path: string): readonly string[] {
  return errors.filter(({ page }) => page === path).map(({ message }) => message);
}
