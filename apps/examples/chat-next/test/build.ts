import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const app = join(import.meta.dirname, '..');

/** Builds the packages before the tests: Next.js reads their JavaScript. In a second where nothing has changed. */
export async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, ['--run', 'packages'], { cwd: app });
}
