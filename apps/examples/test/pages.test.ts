import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isProgram, outputOf, type Block } from '../src/blocks.ts';
import { allPages, type Page } from '../src/pages.ts';
import { createProject } from '../src/project.ts';
import { printedBy } from '../src/run.ts';
import { typeErrors } from '../src/type-check.ts';
import { startProvider } from './services/provider.ts';
import type { Service } from './services/service.ts';
import { startServices } from './services/services.ts';

const project = await createProject();
const errors = await typeErrors(project);
const provider = await startProvider();

afterAll(async () => {
  await provider.close();
  await rm(project, { recursive: true });
});

test('the packages compile for users', () => {
  expect(messagesOf('')).toEqual([]);
});

describe.each(named(allPages()))('%s', (path, page) => {
  let services: Service;
  beforeAll(async () => void (services = await startServices(page)), 60_000);
  afterAll(() => services.close());

  test('compiles', () => {
    expect(messagesOf(path)).toEqual([]);
  });

  // The cases of a store take seconds.
  test.for(programsOf(page))(
    'the program at line %i prints its comments',
    { timeout: 90_000 },
    async ([line, block]) => {
      expect(await printed(page, block, services), `${path}:${line}`).toBe(outputOf(block));
    },
  );
});

function named(found: readonly Page[]): readonly [string, Page][] {
  return found.map((page) => [page.path, page]);
}

function programsOf({ blocks }: Page): readonly [number, Block][] {
  return blocks.filter(isProgram).map((block) => [block.line, block]);
}

function messagesOf(path: string): readonly string[] {
  return errors.filter(({ page }) => page === path).map(({ message }) => message);
}

function printed({ path }: Page, block: Block, services: Service): Promise<string> {
  return printedBy({ block, page: path, project, env: { ...provider.env, ...services.env } });
}
