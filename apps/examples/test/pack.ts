import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '../src/pages.ts';

const turbo = join(repository, 'node_modules/.bin/turbo');
const args = ['run', 'package-check', '--filter=./packages/*', '--output-logs=errors-only'];

/**
 * Packs our packages before the tests: in a second where nothing has changed. Turborepo packs them before it runs the tests
 * as a task.
 */
export async function setup(): Promise<void> {
  if (process.env['TURBO_HASH'] !== undefined) return;
  await new Promise<void>((resolve, reject) => {
    execFile(turbo, args, { cwd: repository }, (error, stdout, stderr) => {
      if (error) reject(new Error(`The packages cannot be packed.\n${stdout}${stderr}`, { cause: error }));
      else resolve();
    });
  });
}
