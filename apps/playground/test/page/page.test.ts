import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { seriousViolations, sidewaysScroll } from '../support/browser.ts';
import { openPage, state } from '../support/page.ts';
import { endlessParcels, dataFolder, serve } from '../support/playground-process.ts';

describe.skipIf(isWithoutChromium).concurrent('the page', () => {
  const browser = browserOfBlock();
  let shared: string;

  beforeAll(async () => {
    shared = (await serve(['--data', await dataFolder(), '--port', '0'], endlessParcels)).url;
  });

  const open = (options: BrowserContextOptions = {}, url = shared) => openPage(browser(), url, options);
  const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true });
  const example = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name });

  test('a message, its tools and its answer, and the state beside them', async () => {
    const { page, complaints } = await open();
    await page.getByText('Offline model', { exact: false }).first().waitFor();
    await example(page, 'what is 17 * 23? remember it').click();
    await page.locator('.tool[data-tool=calculator][data-phase=done]').waitFor();
    await page.getByRole('log').getByText('17 * 23 = 391. I noted').waitFor();
    await send(page).waitFor();
    const panel = state(page);
    await panel.locator('.steps > li[data-type=finalResponse]').waitFor();
    await panel.locator('.state-head .pill', { hasText: 'completed' }).waitFor();
    expect(await panel.locator('.step-line strong').allTextContents()).toEqual([
      'tool execution',
      'tool execution',
      'final response',
    ]);
    expect(await panel.locator('.ledger-name').allTextContents()).toEqual(['calculator', 'notebook_write']);
    expect(await panel.locator('.version').textContent()).toBe('Session version v7');
    expect(await panel.locator('.stored > li').count()).toBe(6);
    await panel.locator('summary', { hasText: 'Raw state' }).click();
    await panel.getByText('"holdfast/agent-session"').waitFor();
    await page.getByText('Reasoning').first().click();
    await page.getByRole('log').getByText('Rule “arithmetic” matched').first().waitFor();

    const before = await page.getByRole('log').textContent();
    await page.reload();
    await page.getByRole('log').getByText('17 * 23 = 391. I noted').waitFor();
    expect(await page.getByRole('log').textContent()).toBe(before);
    expect(complaints).toEqual([]);
  });

  test('the text of the answer arrives in deltas', async () => {
    const { page } = await open();
    await page.evaluate(`
      window.lengths = new Set();
      new MutationObserver(() => {
        const answer = document.querySelector('[data-role=assistant] .text');
        if (answer) window.lengths.add(answer.textContent.length);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    `);
    await page.getByLabel('Message', { exact: true }).fill('hello');
    await page.keyboard.press('Enter');
    await state(page).locator('.state-head .pill', { hasText: 'completed' }).waitFor();
    expect(await page.evaluate<number>('window.lengths.size')).toBeGreaterThan(1);
  });

  test('the server is killed in the middle of a run, and the run is finished after a restart', async () => {
    const data = await dataFolder();
    const { playground, url } = await serve(['--data', data, '--port', '0'], endlessParcels);
    const { page, complaints } = await open({}, url);
    await page.getByLabel('Message', { exact: true }).fill('what is 17 * 23? remember it');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('17 * 23 = 391. I noted').waitFor();
    await send(page).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('send a book to Ann');
    await page.keyboard.press('Enter');
    await page.locator('.tool[data-tool=send_parcel][data-phase=running]').waitFor();
    expect(await playground.kill('SIGKILL')).toBe('SIGKILL');
    await page.getByText('The server does not answer.').waitFor();
    expect(complaints.filter((text) => !/net::ERR_/.test(text))).toEqual([]);

    await serve(['--data', data, '--port', new URL(url).port]);
    await page.reload();
    await page.getByRole('log').getByText('17 * 23 = 391. I noted').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('log').getByText('Sent to Ann: book').waitFor();
    await send(page).waitFor();
    await state(page).locator('.state-head .pill', { hasText: 'completed' }).waitFor();
    expect(await readFile(join(data, 'outbox.txt'), 'utf8')).toMatch(/^[0-9a-f-]{36}\tbook\tto Ann\n$/);
  });

  test('a page that stays open finds the server again by itself', async () => {
    const data = await dataFolder();
    const { playground, url } = await serve(['--data', data, '--port', '0'], endlessParcels);
    const { page } = await open({}, url);
    await example(page, 'send a book to Ann').click();
    await page.locator('.tool[data-tool=send_parcel][data-phase=running]').waitFor();
    await playground.kill('SIGKILL');
    await serve(['--data', data, '--port', new URL(url).port]);
    await page.locator('.tool[data-tool=send_parcel][data-phase=done]').waitFor();
    expect(await page.locator('.tool').count()).toBe(1);
  });

  test('a call waits for approval over a restart of the server', async () => {
    const data = await dataFolder();
    const { playground, url } = await serve(['--data', data, '--port', '0']);
    const { page, complaints } = await open({}, url);
    await example(page, 'pay Ann 250 euros').click();
    const card = page.locator('.tool[data-tool=pay]');
    await page.locator('.tool[data-phase=waiting]').waitFor();
    await state(page).locator('.state-head .pill', { hasText: 'waiting for you' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await playground.kill('SIGKILL');
    await serve(['--data', data, '--port', new URL(url).port]);
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('log').getByText('Paid to Ann: 250 euros').waitFor();
    await state(page).locator('.state-head .pill', { hasText: 'completed' }).waitFor();
    expect(await card.count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(complaints.filter((text) => !/net::ERR_/.test(text))).toEqual([]);
  });

  test('a message that is sent while a call waits is answered after the denial', async () => {
    const { page, complaints } = await open();
    await example(page, 'pay Ann 250 euros').click();
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('what is 2 + 2?');
    await page.keyboard.press('Enter');
    await page.locator('.steering', { hasText: 'what is 2 + 2?' }).waitFor();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.locator('.tool[data-tool=pay][data-phase=blocked]').waitFor();
    await page.getByRole('log').getByText('2 + 2 = 4').waitFor();
    await state(page).locator('.state-head .pill', { hasText: 'completed' }).waitFor();
    expect(await page.getByRole('log').getByText('what is 2 + 2?').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test('a reload in the middle of a run follows it to its end', async () => {
    const { page, complaints } = await open();
    await example(page, 'send a book to Ann').click();
    await page.locator('.tool[data-tool=send_parcel][data-phase=running]').waitFor();
    await page.reload();
    await page.locator('.tool[data-tool=send_parcel][data-phase=running]').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await state(page).locator('.state-head .pill', { hasText: 'stopped' }).waitFor();
    expect(await page.locator('.tool').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test('by keyboard alone: write, stop, fork, delete', async () => {
    const { page, complaints } = await open();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Skip');
    await page.keyboard.press('Enter');
    await page.waitForFunction("document.activeElement.id === 'message'");
    await page.keyboard.type('send a book to Bob');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('please');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe(
      'send a book to Bob\nplease',
    );
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await send(page).waitFor();
    const panel = state(page);
    await panel.locator('.state-head .pill', { hasText: 'stopped' }).waitFor();
    await page.getByRole('button', { name: 'Fork' }).focus();
    const original = page.url();
    await page.keyboard.press('Enter');
    await panel.getByText('Forked from').waitFor();
    expect(page.url()).not.toBe(original);
    await page.getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'An agent whose state can be held' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the message field has the focus after the first message', async () => {
    const { page } = await open();
    await page.getByRole('textbox', { name: 'Message' }).fill('what is 2 + 2?');
    await page.keyboard.press('Enter');
    await state(page).locator('.state-head .pill', { hasText: 'completed' }).waitFor();
    await page.keyboard.type('and 3 + 3?');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('and 3 + 3?');
  });

  test('Tab alone leads to the message field', async () => {
    const { page } = await open();
    const focused = () => page.evaluate<string>('document.activeElement.id');
    for (let presses = 0; presses < 60 && (await focused()) !== 'message'; presses += 1) {
      await page.keyboard.press('Tab');
    }
    expect(await focused()).toBe('message');
  });

  test.each([
    ['light', 1400],
    ['dark', 1400],
    ['light', 390],
    ['dark', 390],
  ] as const)('%s and %i wide: nothing sticks out, nobody is shut out', async (colorScheme, width) => {
    const { page, complaints } = await open({
      colorScheme,
      viewport: { width, height: 844 },
    });
    expect(await seriousViolations(page)).toEqual([]);
    await example(page, 'what is 17 * 23? remember it').click();
    await page.getByRole('log').getByText('17 * 23 = 391. I noted').waitFor();
    await send(page).waitFor();
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(13, 17, 21)' : 'rgb(245, 246, 248)');
    for (const area of width < 1000 ? ['Chat', 'State', 'Sessions'] : ['Chat']) {
      if (width < 1000)
        await page.getByRole('navigation', { name: 'Areas' }).getByRole('button', { name: area }).click();
      expect(await sidewaysScroll(page)).toBe(0);
      expect(await seriousViolations(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  });

  test('the page remembers the chosen theme', async () => {
    const { page } = await open({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'dark theme' }).click();
    await page.reload();
    expect(await page.getByRole('button', { name: 'dark theme' }).getAttribute('aria-pressed')).toBe('true');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(13, 17, 21)');
  });
});
