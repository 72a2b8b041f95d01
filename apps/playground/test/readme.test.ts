import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const readme = new URL('../../../README.md', import.meta.url);
const provider = new LLMock({ port: 0, strict: true });
let folder: string;

beforeAll(async () => {
  // Inside the app, so that the example finds the packages by their names.
  folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  await provider.start();
});

afterAll(async () => {
  await provider.stop();
  await rm(folder, { recursive: true });
});

test('the example in the README runs as it stands, over real HTTP', async () => {
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile(readme, 'utf8')) ?? [];
  expect(example.split('\n').filter(Boolean).length).toBeLessThan(25);
  await writeFile(join(folder, 'example.ts'), example);
  provider.on(
    { userMessage: '2 + 2', hasToolResult: false },
    { toolCalls: [{ name: 'add', arguments: { a: 2, b: 2 } }] },
  );
  provider.on({ userMessage: '2 + 2', hasToolResult: true }, { content: 'It is 4.' });

  const { stdout } = await run(process.execPath, [...process.execArgv, 'example.ts'], {
    cwd: folder,
    env: { ...process.env, OPENAI_API_KEY: 'unused', OPENAI_BASE_URL: `${provider.url}/v1` },
  });

  expect(stdout).toMatch(/^It is 4\./);
  expect(stdout).toContain("status: 'completed'");
  expect(JSON.stringify(provider.getRequests().at(-1)?.body)).toContain('"role":"tool","content":"4"');
});
