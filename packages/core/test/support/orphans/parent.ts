import { writeSync } from 'node:fs';
import { IsolatedProcess } from '@holdfast/core/engine';

// Starts an isolated process for each moment, and lives until the test kills it.
const child = new URL('child.ts', import.meta.url);
for (const moment of process.argv.slice(2)) {
  const isolated = new IsolatedProcess(child, { env: { ...process.env, MOMENT: moment }, silentSeconds: 2 });
  void isolated.advance('a').catch(() => undefined);
}
writeSync(1, 'started\n');
setInterval(() => undefined, 1_000_000);
