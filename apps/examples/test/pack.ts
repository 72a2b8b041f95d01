import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../src/pages/pages.ts';

const run = promisify(execFile);

/** Packs our packages before the tests: in a second where nothing has changed. */
export async function setup(): Promise<void> {
  const turbo = join(repository, 'node_modules/.bin/turbo');
  await run(turbo, ['run', 'package-check', '--filter=./packages/*'], { cwd: repository });
}
