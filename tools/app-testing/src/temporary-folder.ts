import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from './on-end.ts';

/** Creates a folder that is removed after the test file. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-app-'));
  onEnd(() => rm(path, { recursive: true, force: true }));
  return path;
}
