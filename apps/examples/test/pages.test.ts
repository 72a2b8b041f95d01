import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Block } from '../src/pages/blocks.ts';
import { isProgram, outputOf } from '../src/pages/blocks.ts';
import { NOT_CONVERTED } from '../src/pages/not-converted.ts';
import type { Page } from '../src/pages/pages.ts';
import { allPages } from '../src/pages/pages.ts';
import { createProject } from '../src/pages/project.ts';
import { printedBy } from '../src/pages/run.ts';
import { typeErrors } from '../src/pages/type-check.ts';
import { startProvider } from './services/provider.ts';
import type { Service } from './services/service.ts';
import { startServices } from './services/services.ts';

const project = await createProject();
const errors = await typeErrors(project);
const provider = await startProvider();
const pages = allPages();

afterAll(async () => {
  await provider.close();
  await rm(project, { recursive: true });
});

test('the packages compile for users', () => {
  expect(messagesOf('')).toEqual([]);
});

describe.each(named(pages.filter(({ path }) => !NOT_CONVERTED.includes(path))))('%s', (path, page) => {
  let services: Service;
  beforeAll(async () => void (services = await startServices(page)), 60_000);
  afterAll(() => services.close());

  test('compiles', () => {
    expect(messagesOf(path)).toEqual([]);
  });

  // The cases of a store take seconds.
  test.for(programsOf(page))('prints at line %i what it says', { timeout: 90_000 }, async ([line, block]) => {
    expect(await printed(page, block, services), `${path}:${line}`).toBe(outputOf(block));
  });
});

describe.each(NOT_CONVERTED)('%s', (path) => {
  test('is not converted yet', { timeout: 90_000 }, async () => {
    const failures = [...messagesOf(path), ...(await failuresOf(path))];
    expect(failures, 'The page is converted: take it off NOT_CONVERTED.').not.toEqual([]);
  });
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

/** Where the programs of a page do not print what they say. The page ends with the first. */
async function failuresOf(path: string): Promise<readonly string[]> {
  const page = pages.find((each) => each.path === path);
  if (!page || messagesOf(path).length > 0) return [];
  const services = await startServices(page);
  try {
    for (const [line, block] of programsOf(page)) {
      const text = await printed(page, block, services).catch(String);
      if (text !== outputOf(block)) return [`${path}:${line}: ${text}`];
    }
    return [];
  } finally {
    await services.close();
  }
}
