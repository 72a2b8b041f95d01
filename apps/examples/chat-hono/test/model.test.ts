import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { AppProcess, temporaryFolder } from 'app-testing';
import { expect, onTestFinished, test } from 'vitest';

const app = join(import.meta.dirname, '..');

test('with a key, the model of the provider responds', async () => {
  const provider = new LLMock({ port: 0, strict: true });
  const print = { name: 'print', arguments: { pages: 0 } };
  provider.on({ userMessage: 'my report', hasToolResult: false }, { toolCalls: [print] });
  provider.on(
    { userMessage: 'my report', toolResultContains: 'Printed' },
    { content: 'Your report is printed.' },
  );
  await provider.start();
  onTestFinished(() => provider.stop());

  const folder = await temporaryFolder();
  const key = { OPENAI_API_KEY: 'unused', OPENAI_BASE_URL: `${provider.url}/v1` };
  const server = AppProcess.start(app, 'server', { DATA_FOLDER: folder, PORT: '0', ...key });
  const [, url = ''] = await server.printed(/^Chat: (\S+)$/m);
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Print my report.' }] };
  const response = await fetch(`${url}api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'report', trigger: 'submit-message', message }),
  });
  expect(await response.text()).toContain('"finishReason":"stop"');
  const chat = await (await fetch(`${url}api/chat/report`)).text();
  expect(chat).toContain('"text":"Your report is printed."');
  expect(await readFile(join(folder, 'printer.txt'), 'utf8')).toBe('0 pages\n');
});
