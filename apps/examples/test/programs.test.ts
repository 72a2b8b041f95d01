import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentsFolder, programs } from './sources.ts';

const run = promisify(execFile);
const provider = new LLMock({ port: 0, strict: true });

beforeAll(async () => {
  const [calls, result] = [{ hasToolResult: false }, { hasToolResult: true }];
  const add = { name: 'add', arguments: { a: 2, b: 2 } };
  provider.on({ userMessage: '2 + 2', ...calls }, { toolCalls: [add] });
  provider.on({ userMessage: '2 + 2', ...result }, { content: 'It is 4.' });
  provider.on({ userMessage: 'sky blue' }, { content: 'Rayleigh scattering.' });
  await provider.start();
});

afterAll(() => provider.stop());

const named = programs.map((path): [string, string] => [basename(path), path]);

// Those that run the cases of a store take seconds.
test.each(named)('%s prints what it says', { timeout: 60_000 }, async (_, path) => {
  const expected = expectedOutput(await readFile(path, 'utf8'));
  expect(expected.length).toBeGreaterThan(0);
  expect(await outputOf(path)).toMatch(asPattern(expected));
});

test('the first example sends what its tool gave over real HTTP', () => {
  const sent = provider.getRequests().map(({ body }) => JSON.stringify(body));
  expect(sent.some((body) => body.includes('"role":"tool","content":"4"'))).toBe(true);
});

/** Runs a program as a process of its own. */
async function outputOf(path: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'example-'));
  try {
    await cp(agentsFolder, join(cwd, 'agents'), { recursive: true });
    const env = { ...process.env, OPENAI_API_KEY: 'unused', OPENAI_BASE_URL: `${provider.url}/v1` };
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
