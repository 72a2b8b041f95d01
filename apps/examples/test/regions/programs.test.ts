import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { startProvider } from '../services/provider.ts';
import { agentsFolder, programs } from './sources.ts';

const run = promisify(execFile);
const provider = await startProvider();

afterAll(() => provider.close());

const named = programs.map((path): [string, string] => [basename(path), path]);

test.each(named)('%s prints what it says', { timeout: 60_000 }, async (_, path) => {
  const expected = expectedOutput(await readFile(path, 'utf8'));
  expect(expected.length).toBeGreaterThan(0);
  expect(await outputOf(path)).toMatch(asPattern(expected));
});

/** Runs a program as a process of its own. */
async function outputOf(path: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'example-'));
  try {
    await cp(agentsFolder, join(cwd, 'agents'), { recursive: true });
    const env = { ...process.env, ...provider.env };
    const { stdout } = await run(process.execPath, [...process.execArgv, path], { cwd, env });
    return stdout.replaceAll(/[ \t]+$/gm, '').trimEnd();
  } finally {
    await rm(cwd, { recursive: true });
  }
}

function expectedOutput(program: string): string {
  return [...program.matchAll(/\/\/ => ?(.*)$/gm)].map(([, line]) => line).join('\n');
}

function asPattern(expected: string): RegExp {
  const texts = expected.split('…').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${texts.join('[^]*?')}$`);
}
