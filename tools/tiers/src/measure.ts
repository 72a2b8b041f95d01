import { afterAll } from 'vitest';
import { processorSeconds } from './cpu.ts';

/** A worker that runs several files has counted the time of the earlier ones. */
const worker: typeof globalThis & { countedSeconds?: number } = globalThis;
const start = worker.countedSeconds ?? 0;

// A test that runs tests runs all of them.
delete process.env['TEST_TIER'];

// Hooks run in reverse order: this one is the last of the file.
// oxlint-disable-next-line no-empty-pattern -- Vitest reads which fixtures the first argument names
afterAll(({}, file) => {
  const end = processorSeconds();
  worker.countedSeconds = end;
  file.meta.seconds = end - start;
});
