import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FileBlobs } from './file-blobs.ts';

/** A blob store for one test, and its folder. After the test it removes the folder. */
export function testBlobs(): { readonly blobs: FileBlobs; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-blobs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { blobs: new FileBlobs(folder), folder };
}
