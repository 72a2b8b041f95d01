import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ChatClient } from '../support/chat-client.ts';
import { button, field, isTaken, log, openPage, openTabBeside, pill, write } from '../support/page.ts';
import { dataFolder, serve } from '../support/playground-process.ts';

const portOf = (url: string) => new URL(url).port;
const sessionOf = (url: string) => decodeURIComponent(new URL(url).hash.slice(2));

describe.skipIf(isWithoutChromium).concurrent('a message that was typed', () => {
  const browser = browserOfBlock();
  async function own(environment: Readonly<Record<string, string>> = {}) {
    const data = await dataFolder();
    const { playground, url } = await serve(['--data', data, '--port', '0'], environment);
    const again = () => serve(['--data', data, '--port', portOf(url)], environment);
    return { data, playground, url, again };
  }

  test('arrives when the server is back', async () => {
    const { playground, url, again } = await own();
    const { page } = await openPage(browser(), url);
    await write(page, 'what is 2 + 2?');
    await pill(page, 'completed').waitFor();
    await playground.kill('SIGKILL');
    await write(page, 'what is 3 + 3?');
    await page.getByText('The server does not answer.').waitFor();
    expect(await field(page).inputValue()).toBe('what is 3 + 3?');
    await again();
    await log(page).getByText('3 + 3 = 6').waitFor();
    await isTaken(page);
    expect(await log(page).getByText('what is 3 + 3?', { exact: true }).count()).toBe(1);
  });

  test('can be taken back while the server is away', async () => {
    const { playground, url, again } = await own();
    const { page } = await openPage(browser(), url);
    await write(page, 'what is 2 + 2?');
    await pill(page, 'completed').waitFor();
    await playground.kill('SIGKILL');
    await write(page, 'what is 3 + 3?');
    await page.getByText('The server does not answer.').waitFor();
    await page.keyboard.press('Escape');
    await log(page).getByText('what is 3 + 3?').waitFor({ state: 'detached' });
    expect(await field(page).inputValue()).toBe('what is 3 + 3?');
    await again();
    await write(page, 'what is 4 + 4?');
    await log(page).getByText('4 + 4 = 8').waitFor();
    expect(await log(page).getByText('3 + 3').count()).toBe(0);
  });

  test('arrives when another tab has a run, in that run', async () => {
    const { data, url } = await own();
    const one = await openPage(browser(), url);
    await write(one.page, 'send a vase to Ann');
    await one.page.locator('.tool[data-phase=running]').waitFor();
    const other = await openTabBeside(one);
    await write(other.page, 'what is 2 + 2?');
    for (const { page } of [one, other]) {
      await log(page).getByText('2 + 2 = 4').waitFor();
      await pill(page, 'completed').waitFor();
      expect(await log(page).getByText('what is 2 + 2?').count()).toBe(1);
    }
    await isTaken(other.page);
    expect(await readFile(join(data, 'outbox.txt'), 'utf8')).toMatch(/^[0-9a-f-]{36}\tvase\tto Ann\n$/);
    expect([one.complaints, other.complaints]).toEqual([[], []]);
  });

  test('comes back when it is too large, and a long one does not', async () => {
    const { url } = await own();
    const { page } = await openPage(browser(), url);
    await write(page, `what is 2 + 2? ${'x'.repeat(30_000)}`);
    await pill(page, 'completed').waitFor();
    await isTaken(page);
    const long = 'y'.repeat(1_000_001);
    await write(page, long);
    await page.getByText('Send less at once.').waitFor();
    expect(await field(page).inputValue()).toBe(long);
    await log(page).getByText('yyyy').waitFor({ state: 'detached' });
    await write(page, 'what is 3 + 3?');
    await log(page).getByText('3 + 3 = 6').waitFor();
  });

  test('arrives from the welcome screen when the server is back', async () => {
    const { playground, url, again } = await own();
    const { page } = await openPage(browser(), url);
    await playground.kill('SIGKILL');
    await write(page, 'what is 2 + 2?');
    await page.getByText('The server does not answer.').waitFor();
    expect(await field(page).inputValue()).toBe('what is 2 + 2?');
    await again();
    await log(page).getByText('2 + 2 = 4').waitFor();
    await isTaken(page);
  });

  test('comes back on the welcome screen when it is too large', async () => {
    const { url } = await own();
    const { page } = await openPage(browser(), url);
    const long = 'y'.repeat(1_000_001);
    await write(page, long);
    await page.getByText('Send less at once.').waitFor();
    expect(await field(page).inputValue()).toBe(long);
    await write(page, 'what is 2 + 2?');
    await log(page).getByText('2 + 2 = 4').waitFor();
  });

  test('begins a session anew that was deleted elsewhere', async () => {
    const { url } = await own();
    const { page } = await openPage(browser(), url);
    await write(page, 'what is 2 + 2?');
    await pill(page, 'completed').waitFor();
    await new ChatClient(url).json('DELETE', `/api/chat/${sessionOf(page.url())}`);
    await page.getByText('This session was deleted.').waitFor();
    await write(page, 'what is 3 + 3?');
    await log(page).getByText('3 + 3 = 6').waitFor();
    await isTaken(page);
    await log(page).getByText('2 + 2 = 4').waitFor({ state: 'detached' });
    await pill(page, 'completed').waitFor();
    expect(await page.getByText('This session was deleted.').count()).toBe(0);
  });

  test('outlives a reload as a draft', async () => {
    const { url } = await own();
    const { page } = await openPage(browser(), url);
    await write(page, 'what is 2 + 2?');
    await pill(page, 'completed').waitFor();
    await field(page).fill('not sent yet');
    await page.reload();
    await button(page, 'Send').waitFor();
    expect(await field(page).inputValue()).toBe('not sent yet');
  });
});
