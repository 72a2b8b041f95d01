import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const rules = new URL('../../../tools/config/dependency-cruiser.mjs', import.meta.url);
const options = await extractDepcruiseOptions(fileURLToPath(rules));
const manifest = new URL('../package.json', import.meta.url);

type Wrong = readonly [rule: string, file: string, line: string];

/** A line in one file can make another file break these rules. */
const REACHING = new Set(['core-session-contract', 'no-cycles', 'folders-one-way']);

/**
 * Divides the lines among few repositories, since each takes a cruise. No file of a repository gets two lines, and a line
 * that breaks a reaching rule is alone, so that a breach of its rule by its file comes from the line.
 */
function separated(lines: readonly Wrong[]): readonly (readonly Wrong[])[] {
  const repositories: Wrong[][] = [];
  for (const line of lines) {
    const fits = (others: readonly Wrong[]) =>
      others.every(([rule, file]) => file !== line[1] && !REACHING.has(rule));
    const found = REACHING.has(line[0]) ? undefined : repositories.find(fits);
    if (found === undefined) repositories.push([line]);
    else found.push(line);
  }
  return repositories;
}

/** The import rules that a repository breaks, as `rule: from → to`. */
async function brokenRules(baseDir: string): Promise<string[]> {
  const { output } = await cruise(['packages', 'apps', 'lab', 'tools'], { ...options, baseDir });
  if (typeof output === 'string') throw new TypeError(`Expected a result to read, got ${output}`);
  return output.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

test('core has no runtime dependency', async () => {
  const core: unknown = JSON.parse(await readFile(manifest, 'utf8'));
  expect(core).toHaveProperty('name', '@holdfast/core');
  expect(core).not.toHaveProperty('dependencies');
  expect(core).not.toHaveProperty('optionalDependencies');
  expect(core).not.toHaveProperty('peerDependencies');
});

// `pnpm layers` checks the imports of this repository.
describe('a tree with invalid imports', () => {
  const folders: string[] = [];

  afterAll(async () => {
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
  });

  /** A repository of six packages and an app, with these lines added to its files. */
  async function repository(lines: Record<string, string>): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-architecture-'));
    folders.push(folder);
    const write = async (path: string, text: string) => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    };
    for (const name of ['core', 'conformance', 'driver-x', 'store-y', 'engine-w', 'runner-z']) {
      const exports = {
        '.': { '@holdfast/source': './src/index.ts' },
        './store': { '@holdfast/source': './src/store.ts' },
        './driver': { '@holdfast/source': './src/driver.ts' },
        './engine': { '@holdfast/source': './src/engine.ts' },
        './spending': { '@holdfast/source': './src/spending.ts' },
        './channel': { '@holdfast/source': './src/channel.ts' },
        './testing': { '@holdfast/source': './src/testing.ts' },
      };
      await write(`packages/${name}/package.json`, JSON.stringify({ name: `@holdfast/${name}`, exports }));
      await mkdir(join(folder, 'node_modules/@holdfast'), { recursive: true });
      await symlink(join(folder, 'packages', name), join(folder, 'node_modules/@holdfast', name), 'junction');
    }
    const servers = { name: 'test-servers', exports: './src/index.ts' };
    await write('tools/test-servers/package.json', JSON.stringify(servers));
    await symlink(join(folder, 'tools/test-servers'), join(folder, 'node_modules/test-servers'), 'junction');
    await write('package.json', '{}');
    await write('node_modules/left-pad/package.json', '{"name":"left-pad","main":"dist/index.js"}');
    await write('node_modules/left-pad/dist/index.js', '');
    const files: Record<string, string> = {
      'packages/core/src/clock.ts': '',
      'packages/core/src/json.ts': '',
      'packages/core/src/state/step.ts': "import '../json.ts';",
      'packages/core/src/loop/driver.ts': "import '../state/step.ts';",
      'packages/core/src/channel/session-channel.ts': "import '../loop/driver.ts';",
      'packages/core/src/session/session.ts': "import '../state/step.ts';",
      'packages/core/src/session/session-store.ts': "import './session.ts';",
      'packages/core/src/session/work/session-runtime.ts': "import '../../loop/driver.ts';",
      'packages/core/src/session/session-errors.ts': '',
      'packages/core/src/spending/ledger.ts':
        "import '../session/session-errors.ts'; import '../loop/driver.ts';",
      'packages/core/src/spending.ts': "export * from './spending/ledger.ts';",
      'packages/core/src/index.ts': "export * from './session/work/session-runtime.ts';",
      'packages/core/src/driver.ts': "export * from './loop/driver.ts';",
      'packages/core/src/store.ts': "export * from './session/session-store.ts';",
      'packages/core/src/engine.ts': "export * from './session/work/session-runtime.ts';",
      'packages/core/src/channel.ts': "export * from './channel/session-channel.ts';",
      'packages/core/src/testing.ts': "export * from './loop/driver.ts';",
      'packages/core/test/core.test.ts': "import '@holdfast/core';",
      'packages/conformance/src/index.ts': "import '@holdfast/core';",
      'packages/driver-x/src/index.ts': "import '@holdfast/core'; import '@holdfast/core/driver';",
      'packages/driver-x/test/driver.test.ts': "import '@holdfast/conformance';",
      'packages/store-y/src/index.ts':
        "import '@holdfast/core'; import '@holdfast/core/store'; import '@holdfast/core/spending'; import '@holdfast/core/channel';",
      'packages/engine-w/src/index.ts': "import '@holdfast/core'; import '@holdfast/core/engine';",
      'packages/runner-z/src/index.ts': "import '@holdfast/core'; import '@holdfast/core/engine';",
      'packages/store-y/test/store.test.ts': "import '@holdfast/core/testing'; import 'test-servers';",
      'tools/test-servers/src/index.ts': '',
      'lab/trial/src/main.ts': "import '@holdfast/store-y';",
      'apps/demo/src/main.ts': "import '@holdfast/driver-x'; import '@holdfast/store-y';",
    };
    for (const [path, line] of Object.entries(lines)) files[path] = `${files[path] ?? ''}\n${line}`;
    for (const [path, text] of Object.entries(files)) await write(path, text);
    return folder;
  }

  test('valid imports break no rule', async () => {
    await expect(brokenRules(await repository({}))).resolves.toEqual([]);
  });

  const core = 'packages/core/src';
  const wrong: readonly Wrong[] = [
    ['core-leaves', `${core}/clock.ts`, "import './state/step.ts';"],
    ['core-leaves', `${core}/clock.ts`, "import type { A } from './session/session.ts';"],
    ['core-state', `${core}/state/messages.ts`, "import '../loop/driver.ts';"],
    ['core-state', `${core}/state/messages.ts`, "import '../session/session.ts';"],
    ['core-state', `${core}/state/messages.ts`, "import '../index.ts';"],
    ['core-loop', `${core}/loop/tool.ts`, "import '../session/session.ts';"],
    ['core-loop', `${core}/loop/tool.ts`, "import type { A } from '../session/session-store.ts';"],
    ['core-agents', `${core}/agents/subagent.ts`, "import '../session/session.ts';"],
    ['core-observe', `${core}/observe/console.ts`, "import '../agents/any.ts';"],
    ['core-loop', `${core}/loop/tool.ts`, "import '../agents/any.ts';"],
    ['core-session', `${core}/session/claim.ts`, "import '../testing.ts';"],
    ['core-spending', `${core}/spending/ledger.ts`, "import '../session/session.ts';"],
    ['core-channel', `${core}/channel/entry.ts`, "import type { A } from '../session/session-store.ts';"],
    ['core-testing', `${core}/testing/driver.ts`, "import '../session/session.ts';"],
    ['core-folders', `${core}/index.ts`, "import './helpers/any.ts';"],
    [
      'core-session-contract',
      `${core}/session/session-store.ts`,
      "import type { A } from '../loop/driver.ts';",
    ],
    ['core-session-contract', `${core}/session/session-store.ts`, "import './work/session-runtime.ts';"],
    ['core-barrels', `${core}/state/context.ts`, "export { A } from './step.ts';"],
    ['core-barrels', `${core}/state/context.ts`, "export * from './step.ts';"],
    ['core-alone', `${core}/clock.ts`, "import 'node:crypto';"],
    ['core-alone', `${core}/clock.ts`, "import 'left-pad';"],
    ['core-alone', `${core}/clock.ts`, "import type { A } from '@holdfast/driver-x';"],
    ['core-driver-entry', 'packages/driver-x/src/index.ts', "import '@holdfast/core/store';"],
    ['core-store-entry', 'packages/store-y/src/index.ts', "import type { A } from '@holdfast/core/driver';"],
    ['core-engine-entry', 'packages/engine-w/src/index.ts', "import '@holdfast/core/store';"],
    ['core-engine-entry', 'packages/runner-z/src/index.ts', "import '@holdfast/core/driver';"],
    ['core-channel-entry', 'packages/ui-v/src/index.ts', "import '@holdfast/core/spending';"],
    ['core-for-tests', 'packages/conformance/src/index.ts', "import '@holdfast/core/testing';"],
    ['packages-by-name', 'packages/driver-x/src/index.ts', "import '../../core/src/index.ts';"],
    ['packages-by-name', 'apps/demo/src/main.ts', "import '../../../packages/core/src/index.ts';"],
    ['adapters-apart', 'packages/driver-x/src/index.ts', "import type { A } from '@holdfast/store-y';"],
    ['adapters-apart', 'packages/runner-z/src/index.ts', "import type { A } from '@holdfast/engine-w';"],
    ['adapters-apart', 'packages/store-y/src/index.ts', "import '@holdfast/runner-z';"],
    ['conformance-below-adapters', 'packages/conformance/test/a.test.ts', "import '@holdfast/runner-z';"],
    ['conformance-below-adapters', 'packages/conformance/test/a.test.ts', "import '@holdfast/store-y';"],
    ['conformance-for-tests', 'packages/store-y/src/index.ts', "import '@holdfast/conformance';"],
    ['packages-below-apps', 'packages/driver-x/src/index.ts', "import '../../../apps/demo/src/main.ts';"],
    [
      'servers-for-tests',
      'packages/store-y/src/index.ts',
      "import '../../../tools/test-servers/src/index.ts';",
    ],
    ['declared', 'packages/driver-x/src/index.ts', "import 'left-pad';"],
    ['resolvable', 'packages/driver-x/src/index.ts', "import type { A } from 'nowhere';"],
    ['no-cycles', `${core}/state/step.ts`, "import type { A } from './tool-execution.ts';"],
    ['core-faces', `${core}/loop/tools/tool.ts`, "import '../driver.ts';"],
    ['core-grounds', `${core}/session/session-store.ts`, "import './work/session-runtime.ts';"],
    ['folders-one-way', `${core}/loop/tools/tool.ts`, "import type { A } from '../run/attempt.ts';"],
  ];
  const companions: Record<string, string> = {
    [`${core}/helpers/any.ts`]: '',
    [`${core}/agents/any.ts`]: '',
    [`${core}/loop/tools/context.ts`]: '',
    [`${core}/loop/run/attempt.ts`]: "import '../tools/context.ts';",
    [`${core}/state/tool-execution.ts`]: "import type { B } from './step.ts';",
  };

  describe.each(separated(wrong))('repository %$', (...lines) => {
    let broken: readonly string[];

    beforeAll(async () => {
      const added = Object.fromEntries(lines.map(([, file, line]) => [file, line]));
      broken = await brokenRules(await repository({ ...companions, ...added }));
    });

    test.each(lines)('%s is broken in %s by %s', (rule, file) => {
      const from = rule === 'folders-one-way' ? dirname(file) : file;
      expect(broken).toContainEqual(expect.stringMatching(`^${rule}: ${from} `));
    });
  });

  test('the cases break every rule', () => {
    const names = options.ruleSet?.forbidden?.map(({ name }) => name);
    expect(new Set(wrong.map(([rule]) => rule))).toEqual(new Set(names));
  });
});
