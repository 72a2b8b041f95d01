import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { AppProcess, isWithoutChromium, temporaryFolder, useBrowser } from 'app-testing';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';

const app = join(import.meta.dirname, '..');
const address = /^Chat: (\S+)$/m;
const numbers = Array.from({ length: 100 }, (_, index) => index + 1).join(' ');

/** The program of the guide. */
async function program(): Promise<string> {
  const guide = await readFile(join(app, '../../../docs/guide/chat.md'), 'utf8');
  return /```ts title="event-source.ts"[^\n]*\n([^]*?)```/.exec(guide)?.[1] ?? '';
}

describe.skipIf(isWithoutChromium)('the page of the guide with a plain EventSource', () => {
  const open = useBrowser();

  /** Opens an empty page of a server. */
  async function openEmpty(url: string, allows?: RegExp): Promise<Page> {
    const page = await open('about:blank', allows && { allows });
    const body = '<!doctype html><link rel="icon" href="data:,"><body>';
    await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(url);
    return page;
  }

  test('has at most 15 lines', async () => {
    const lines = (await program()).split('\n').filter((line) => line.trim() !== '');
    expect(lines.length).toBeLessThanOrEqual(15);
    expect(lines.length).toBeGreaterThan(0);
  });

  test('shows the whole response when the web process is killed and another one replaces it', async () => {
    const env = { DATA_FOLDER: await temporaryFolder(), PORT: '0' };
    const web = AppProcess.start(app, 'web', env);
    AppProcess.start(app, 'worker', env);
    const [, url = ''] = await web.printed(address);
    const page = await openEmpty(url, /net::ERR_/);
    const shown = page.locator('output');

    await page.addScriptTag({ type: 'module', content: stripTypeScriptTypes(await program()) });
    await shown.getByText('1 2 3 4').waitFor();
    await web.kill();
    const another = AppProcess.start(app, 'server', { ...env, PORT: new URL(url).port });
    await another.printed(address);
    await shown.getByText(numbers, { exact: true }).waitFor();
    expect(await shown.textContent()).toBe(numbers);
  });

  test('is closed by the status 204 when no response is at work', async () => {
    const server = AppProcess.start(app, 'server', { DATA_FOLDER: await temporaryFolder(), PORT: '0' });
    const [, url = ''] = await server.printed(address);
    const page = await open(url);
    const state = await page.evaluate<number>(`new Promise((resolve) => {
      const source = new EventSource('/api/chat/none/stream');
      source.onerror = () => resolve(source.readyState);
    })`);
    expect(state).toBe(2); // closed
  });
});
