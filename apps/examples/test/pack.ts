import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { repository } from '../src/pages.ts';

const turbo = join(repository, 'node_modules/.bin/turbo');
const args = ['run', 'package-check', '--filter=./packages/*', '--output-logs=errors-only'];

/**
 * Packs our packages before the tests that install them: in a second where nothing has changed. Turborepo packs them before
 * it runs the tests as a task.
 */
export async function setup(project: TestProject): Promise<void> {
  const { testFiles } = await project.globTestFiles();
  const installs = testFiles.some((file) => basename(file) !== 'blocks.test.ts');
  if (!installs || process.env['TURBO_HASH'] !== undefined) return;
  await new Promise<void>((resolve, reject) => {
    execFile(turbo, args, { cwd: repository }, (error, stdout, stderr) => {
      if (error) reject(new Error(`The packages cannot be packed.\n${stdout}${stderr}`, { cause: error }));
      else resolve();
    });
  });
}
