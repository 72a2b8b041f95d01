import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readManifest } from '../src/manifests.ts';
import { repository } from '../src/paths.ts';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const workflows = globSync('.github/workflows/*.yml', { cwd: repository }).toSorted();

interface Job {
  readonly 'timeout-minutes'?: number;
}

describe.each(workflows)('%s', (path) => {
  const { jobs } = parse(read(path)) as { readonly jobs: Readonly<Record<string, Job>> };

  test('names each action by a commit, with its version', () => {
    const actions = [...read(path).matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('ends each job in time', () => {
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });
});

test('the checks have enough time for a busy machine', () => {
  const { jobs } = parse(read('.github/workflows/ci.yml')) as {
    readonly jobs: Readonly<Record<string, Job>>;
  };
  for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThanOrEqual(90);
});

const pages = [
  'AGENTS.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'README.md',
  '.github/pull_request_template.md',
];

describe.each(pages)('%s', (page) => {
  const text = read(page);

  test('names existing scripts', () => {
    const scripts = Object.keys(readManifest(repository)['scripts'] as object);
    const known = new Set([...scripts, 'install', 'exec', 'pack', 'changeset']);
    const named = [...text.matchAll(/\bpnpm (?!@)([a-z][\w:-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test('links to existing files', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);
    const folder = join(repository, page, '..');
    expect(links.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  });
});
