import { createServer } from 'node:http';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, test, type TestContext } from 'vitest';
import { dataFolder, run } from './support/playground-process.ts';

type OnTestFinished = TestContext['onTestFinished'];

/** A provider that refuses every request and repeats the key that it got. */
async function refusingProvider(onTestFinished: OnTestFinished, status = 401, text = ''): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        error: { message: `${text} Bad key: ${request.headers.authorization}`, type: 'auth' },
      }),
    );
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`;
}

describe.concurrent('with a provider over HTTP', () => {
  test('a tool call and an answer, through the real terminal', async ({ onTestFinished }) => {
    const mock = new LLMock({ port: 0, strict: true });
    const question = 'How much is seventeen times twenty-three?';
    const usage = { input_tokens: 40, output_tokens: 8 };
    mock.on(
      { userMessage: question, turnIndex: 0 },
      { toolCalls: [{ name: 'calculator', arguments: { expression: '17 * 23' } }], usage },
    );
    mock.on(
      { userMessage: question, turnIndex: 1 },
      { content: 'It is 391, as the calculator says.', usage },
    );
    await mock.start();
    onTestFinished(() => mock.stop());
    const environment = {
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      OPENAI_MODEL: 'gpt-test',
    };
    const data = await dataFolder();
    const { code, stdout, stderr } = await run(['--data', data, '--prompt', question], environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`model   gpt-test · ${new URL(mock.url).host}`);
    expect(stdout).toContain('← calculator = {"expression":"17 * 23","value":391}');
    expect(stdout).toContain('│ It is 391, as the calculator says.\n');
    expect(stdout).toMatch(/^■ .* completed: 2 steps, 80 in, 16 out/m);
    const [, second] = mock.getRequests();
    expect(JSON.stringify(second?.body)).toContain('391');
  });

  test('a refusal is printed, without the key', async ({ onTestFinished }) => {
    const data = await dataFolder();
    const key = 'a-key-of-no-known-shape';
    const environment = { OPENAI_API_KEY: key, OPENAI_BASE_URL: await refusingProvider(onTestFinished) };
    const { code, stdout, stderr } = await run(['--data', data, '--prompt', 'hi'], environment);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The run failed: .*401/);
    expect(stdout).toMatch(/^■ .* failed: 1 step/m);
    const database = await readFile(join(data, 'sessions.db'), 'latin1');
    const log = await readFile(join(data, 'sessions.db-wal'), 'latin1').catch(() => '');
    expect(stdout + stderr + database + log).not.toContain(key);
  });

  test('no escape sequence of a model or of a provider reaches the terminal', async ({ onTestFinished }) => {
    const attack = '\u001B]0;owned\u0007\u009B31m\u202Eno';
    const mock = new LLMock({ port: 0, strict: true });
    mock.on({ userMessage: 'say', turnIndex: 0 }, { content: `Hello ${attack}`, reasoning: attack });
    mock.on(
      { userMessage: 'pay', turnIndex: 0 },
      { toolCalls: [{ name: 'pay', arguments: { to: attack, amount: 250 } }] },
    );
    await mock.start();
    onTestFinished(() => mock.stop());
    const answering = { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: `${mock.url}/v1` };
    const refusing = {
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: await refusingProvider(onTestFinished, 400, attack),
    };
    const runs = [
      await run(['--data', await dataFolder(), '--prompt', 'say'], answering),
      await run(['--data', await dataFolder(), '--prompt', 'pay'], answering),
      await run(['--data', await dataFolder(), '--prompt', 'say'], refusing),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 1]);
    expect(runs[0]?.stdout).toContain('Hello');
    expect(runs[1]?.stdout).toMatch(/^May it pay .*<U\+009B>31m<U\+202E>no.*250}\?$/m);
    expect(runs[2]?.stderr).toMatch(/^The run failed: .*<U\+001B>]0;owned/);
    for (const { stdout, stderr } of runs)
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  });

  test('an unreachable provider', async () => {
    const environment = { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
    const { code, stderr } = await run(['--data', await dataFolder(), '--prompt', 'hi'], environment);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The run failed: .*ECONNREFUSED|^The run failed: .*[Cc]annot connect/);
  });
});
