import { execFileSync } from 'node:child_process';
import { findChromium } from '../../config/vitest.chromium.ts';

/** The versions of the programs that tests need and the lockfile does not name. */
export function machineVersions(): string {
  const { REDIS_SERVER = 'redis-server' } = process.env;
  const system = `${process.platform} ${process.arch}`;
  return [system, process.version, versionOf(REDIS_SERVER), versionOf(findChromium())].join(', ');
}

function versionOf(program: string | undefined): string {
  if (program === undefined) return 'no Chromium';
  try {
    return execFileSync(program, ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return `no ${program}`;
  }
}
