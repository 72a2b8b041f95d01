import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const app = join(import.meta.dirname, '..');

/**
 * Builds the packages before the tests: Next.js reads their JavaScript. In a second where nothing has changed. Turborepo
 * builds them before it runs the tests as a task.
 */
export async function setup(): Promise<void> {
  if (process.env['TURBO_HASH'] !== undefined) return;
  await promisify(execFile)(process.execPath, ['--run', 'packages'], { cwd: app });
}
