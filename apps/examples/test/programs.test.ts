import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentsFolder, programs } from './sources.ts';

const run = promisify(execFile);
const provider = new LLMock({ port: 0, strict: true });
const dynamoDb = dynalite({ createTableMs: 0 });

beforeAll(async () => {
  const [calls, result] = [{ hasToolResult: false }, { hasToolResult: true }];
  const add = { name: 'add', arguments: { a: 2, b: 2 } };
  provider.on({ userMessage: '2 + 2', ...calls }, { toolCalls: [add] });
  provider.on({ userMessage: '2 + 2', ...result }, { content: 'It is 4.' });
  provider.on({ userMessage: 'sky blue' }, { content: 'Rayleigh scattering.' });
  await provider.start();
  dynamoDb.listen(0, '127.0.0.1');
  await once(dynamoDb, 'listening');
});

afterAll(async () => {
  await provider.stop();
  await new Promise((resolve) => void dynamoDb.close(resolve));
});

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
    const env = { ...process.env, ...services() };
    const { stdout } = await run(process.execPath, [...process.execArgv, path], { cwd, env });
    return stdout.replaceAll(/[ \t]+$/gm, '').trimEnd();
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/** Where the programs find what they talk to. */
function services(): Readonly<Record<string, string>> {
  const { port } = dynamoDb.address() as AddressInfo;
  return {
    OPENAI_API_KEY: 'unused',
    OPENAI_BASE_URL: `${provider.url}/v1`,
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'unused',
    AWS_SECRET_ACCESS_KEY: 'unused',
  };
}

function expectedOutput(program: string): string {
  return [...program.matchAll(/\/\/ => ?(.*)$/gm)].map(([, line]) => line).join('\n');
}

function asPattern(expected: string): RegExp {
  const texts = expected.split('…').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${texts.join('[^]*?')}$`);
}
