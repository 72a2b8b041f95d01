import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  AppProcess,
  ChatPage,
  isWithoutChromium,
  sourceLines,
  temporaryFolder,
  useBrowser,
} from 'app-testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';

const app = join(import.meta.dirname, '..');
const numbers = Array.from({ length: 100 }, (_, index) => index + 1).join(' ');

test('the app has at most 60 lines beside its agent and its layout', () => {
  const layout = 9;
  expect(sourceLines(join(app, 'src')) - layout).toBeLessThanOrEqual(60);
});

describe.skipIf(isWithoutChromium)('the chat, built and started', () => {
  const open = useBrowser();
  const env = { DATA_FOLDER: '', PORT: '0', NEXT_TELEMETRY_DISABLED: '1' };
  let server: AppProcess;
  let url: string;

  const serve = async (): Promise<void> => {
    server = AppProcess.start(app, 'server', env);
    [, url = ''] = await server.printed(/Local: +(\S+)/);
    env.PORT = new URL(url).port;
  };

  beforeAll(async () => {
    env.DATA_FOLDER = await temporaryFolder();
    await promisify(execFile)(process.execPath, ['--run', 'bundle'], {
      cwd: app,
      env: { ...process.env, ...env },
    });
    await serve();
  });

  const tab = async (chat: string, options?: Parameters<typeof open>[1]): Promise<ChatPage> =>
    new ChatPage(await open(`${url}/${chat}`, options));

  test('a response arrives word by word, and a reload in the middle continues it', async () => {
    const chat = await tab('text');
    await chat.send('Count to 100.');
    await chat.says('1 2 3');
    await chat.page.reload();
    await chat.says(numbers);
    expect(await chat.texts()).toEqual(['Count to 100.', numbers]);
  });

  test('a call runs once after the approval', async () => {
    const chat = await tab('approval');
    await chat.send('Pay 7 euros.');
    await chat.click('Approve');
    await chat.says('The result: Paid 7 euros.');
    expect(await readFile(join(env.DATA_FOLDER, 'payments.txt'), 'utf8')).toBe('7 euros\n');
  });

  test('the page answers a call of its own tool', async () => {
    const chat = await tab('zone', { timezoneId: 'America/New_York' });
    await chat.send('What time zone is it?');
    await chat.says('The result: America/New_York');
    expect(await chat.page.locator('main').getByRole('alert').count()).toBe(0);
  });

  test('the stop button ends a response', async () => {
    const chat = await tab('stop');
    await chat.send('Count to 100000.');
    await chat.says('1 2 3');
    await chat.click('Stop');
    const [, counted = ''] = await chat.texts();
    expect(counted).toMatch(/^1 2 3/);
  });

  test('the page continues when the server is killed in a tool call and starts again', async () => {
    const chat = await tab('killed', { allows: /net::ERR_/ });
    await chat.send('Print 600 pages.');
    const printed = () => readFile(join(env.DATA_FOLDER, 'printer.txt'), 'utf8').catch(() => '');
    await vi.waitFor(async () => expect(await printed()).toBe('600 pages\n'), { timeout: 300_000 });
    await server.kill();
    await serve();
    await chat.says('The result: Tool "print" was started and interrupted');
    expect(await printed()).toBe('600 pages\n');
  });
});
