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
  /** The workflow that the job runs instead of steps. */
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string }[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflowOf = (path: string): Workflow => parse(read(path)) as Workflow;

describe.each(workflows)('%s', (path) => {
  const { jobs, permissions } = workflowOf(path);

  test('names each action by a commit, with its version', () => {
    const used = [...read(path).matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action = '']) => action);
    const actions = used.filter((action) => !action.startsWith('./'));
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('ends each job in time', () => {
    const own = Object.values(jobs).filter(({ uses }) => uses === undefined);
    for (const job of own) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  test('may only read, except in jobs that need more', () => {
    expect(permissions).toEqual({ contents: 'read' });
  });

  test('has the version of pnpm that the repository names', () => {
    const versions = [...read(path).matchAll(/pnpm@([\w.-]+)/g)].map(([, version]) => `pnpm@${version}`);
    expect(versions).not.toEqual([]);
    for (const version of versions) expect(version).toBe(readManifest(repository)['packageManager']);
  });
});

test('the checks have enough time for a busy machine', () => {
  const { jobs } = workflowOf('.github/workflows/ci.yml');
  for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThanOrEqual(90);
});

describe('a release', () => {
  const { jobs } = workflowOf('.github/workflows/release.yml');
  const publishes = Object.entries(jobs).filter(
    ([, { permissions }]) => permissions?.['id-token'] === 'write',
  );

  test('waits for all checks of its own commit', () => {
    expect(workflowOf('.github/workflows/ci.yml').on).toHaveProperty('workflow_call');
    const { ci, ...others } = jobs;
    expect(ci?.uses).toBe('./.github/workflows/ci.yml');
    for (const { needs = [] } of Object.values(others)) expect([needs].flat()).toContain('ci');
  });

  test('publishes in one job, which has an environment and no right to open pull requests', () => {
    expect(publishes.map(([name]) => name)).toEqual(['publish']);
    const [, job] = publishes[0] ?? [];
    expect(job?.environment).toBe('npm');
    expect(job?.permissions).toEqual({ contents: 'write', 'id-token': 'write' });
  });

  test('lists the dependencies that it publishes with', () => {
    expect(jobs['publish']?.steps?.map(({ run }) => run)).toContain(
      'pnpm sbom --sbom-format cyclonedx --prod --out sbom.cdx.json',
    );
  });
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
