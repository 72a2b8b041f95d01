import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
const address = /^Chat: (\S+)$/m;
const numbersTo = (end: number): string => Array.from({ length: end }, (_, index) => index + 1).join(' ');

test('the app has at most 60 lines beside its agent', () => {
  expect(sourceLines(join(app, 'src'))).toBeLessThanOrEqual(60);
});

describe.skipIf(isWithoutChromium)('the chat in one process', () => {
  const open = useBrowser();
  let folder: string;
  let url: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const server = AppProcess.start(app, 'start', { DATA_FOLDER: folder, PORT: '0' });
    [, url = ''] = await server.printed(address);
  });

  const tab = async (chat: string, options?: Parameters<typeof open>[1]): Promise<ChatPage> =>
    new ChatPage(await open(`${url}?chat=${chat}`, options));

  test('a message is answered, and a reload shows the same', async () => {
    const chat = await tab('text');
    await chat.send('Count to 5.');
    await chat.says('1 2 3 4 5');
    expect(await chat.texts()).toEqual(['Count to 5.', '1 2 3 4 5']);
    await chat.page.reload();
    await chat.says('1 2 3 4 5');
    expect(await chat.texts()).toEqual(['Count to 5.', '1 2 3 4 5']);
  });

  test('a call runs once after the approval in one of two tabs', async () => {
    const chat = await tab('approval');
    const other = await tab('approval', { beside: chat.page });
    await chat.send('Pay 7 euros.');
    await Promise.all([chat.offers('Deny'), other.offers('Approve')]);
    await other.click('Approve');
    await Promise.all([chat.says('The result: Paid 7 euros.'), other.says('The result: Paid 7 euros.')]);
    expect(await chat.texts()).toEqual(await other.texts());
    expect(await readFile(join(folder, 'payments.txt'), 'utf8')).toBe('7 euros\n');
  });

  test('a denied call does not run', async () => {
    const chat = await tab('denial');
    await chat.send('Pay 8 euros.');
    await chat.click('Deny');
    await chat.says('The result: denied');
    expect(await chat.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await readFile(join(folder, 'payments.txt'), 'utf8').catch(() => '')).not.toContain('8 euros');
  });

  test('a call on which another person decides has no buttons', async () => {
    const chat = await tab('others');
    await chat.send('Pay 700 euros.');
    await chat.says('Another person decides on this call.');
    expect(await chat.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  });

  test('the page answers a call of its own tool', async () => {
    const chat = await tab('zone', { timezoneId: 'America/New_York' });
    const other = await tab('zone', { beside: chat.page });
    await chat.send('What time zone is it?');
    await Promise.all([
      chat.says('The result: America/New_York'),
      other.says('The result: America/New_York'),
    ]);
    expect(await chat.texts()).toEqual(await other.texts());
    expect(await chat.page.getByRole('alert').count()).toBe(0);
    expect(await other.page.getByRole('alert').count()).toBe(0);
  });

  test('a page answers a call that began when no page was open', async () => {
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What time zone is it?' }] };
    const response = await fetch(`${url}api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'later', trigger: 'submit-message', message }),
    });
    expect(await response.text()).toContain('"finishReason":"tool-calls"');
    const chat = await tab('later', { timezoneId: 'America/New_York' });
    await chat.says('The result: America/New_York');
  });

  test('the stop button of another tab ends a response in both', async () => {
    const chat = await tab('stop');
    const other = await tab('stop', { beside: chat.page });
    await chat.send('Count to 100000.');
    await Promise.all([chat.says('1 2 3 4 5 6'), other.says('1 2 3 4 5 6')]);
    await other.click('Stop');
    const [, counted = ''] = await chat.texts();
    expect(counted).toMatch(/^1 2 3 4 5 6/);
    expect(numbersTo(100_000).startsWith(counted.trimEnd())).toBe(true);
    await vi.waitFor(async () => expect(await other.texts()).toEqual(await chat.texts()), {
      timeout: 300_000,
    });
  });

  test('a reload in the middle of a response continues it', async () => {
    const chat = await tab('reload');
    await chat.send('Count to 100.');
    await chat.says('1 2 3');
    await chat.page.reload();
    await chat.says(numbersTo(100));
    expect(await chat.texts()).toEqual(['Count to 100.', numbersTo(100)]);
  });
});

describe.skipIf(isWithoutChromium)('a web process and worker processes', () => {
  const open = useBrowser();

  test('another worker continues when a worker is killed in a tool call', async () => {
    const folder = await temporaryFolder();
    const env = { DATA_FOLDER: folder, PORT: '0' };
    const web = AppProcess.start(app, 'web', env);
    const worker = AppProcess.start(app, 'worker', env);
    const [, url = ''] = await web.printed(address);
    const chat = new ChatPage(await open(url));
    await chat.send('Count to 3.');
    await chat.says('1 2 3');
    await chat.send('Print 600 pages.');
    const printed = () => readFile(join(folder, 'printer.txt'), 'utf8').catch(() => '');
    await vi.waitFor(async () => expect(await printed()).toBe('600 pages\n'), { timeout: 300_000 });
    await worker.kill();
    AppProcess.start(app, 'worker', env);
    await chat.says('The result: Tool "print" was started and interrupted');
    expect(await chat.texts()).toHaveLength(4);
    expect(await printed()).toBe('600 pages\n');
  });
});
