import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { describe, expect, test } from 'vitest';
import { button, isTaken, log, openPage, pill, write } from '../support/page.ts';
import { dataFolder, serve } from '../support/playground-process.ts';
import { startProvider } from '../support/provider.ts';

describe.skipIf(isWithoutChromium).concurrent('a page with a provider', () => {
  const browser = browserOfBlock();
  async function open(provider: Awaited<ReturnType<typeof startProvider>>) {
    const { url } = await serve(['--data', await dataFolder(), '--port', '0'], provider.environment);
    return openPage(browser(), url);
  }

  test('stops by its button before the first token, and shows that it waits', async () => {
    const provider = await startProvider();
    provider.mock.on({ userMessage: 'hello' }, { content: 'Good day.' });
    const { page, complaints } = await open(provider);
    await write(page, 'hello');
    await log(page).getByText('Good day.').waitFor();
    await pill(page, 'completed').waitFor();
    await write(page, 'now wait for ever');
    await provider.isWaiting;
    await isTaken(page);
    await log(page).getByText('Thinking').waitFor();
    await button(page, 'Stop').click();
    await provider.isGivenUp;
    await pill(page, 'stopped').waitFor();
    await button(page, 'Send').waitFor();
    expect(await log(page).getByText('Thinking').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('stops by Escape before the first token of a new session', async () => {
    const provider = await startProvider();
    const { page, complaints } = await open(provider);
    await write(page, 'wait for ever');
    await button(page, 'Stop').waitFor();
    await page.keyboard.press('Escape');
    await pill(page, 'stopped').waitFor();
    await button(page, 'Send').waitFor();
    expect(complaints).toEqual([]);
  });

  test('shows all arguments of a call that waits for approval, and the characters that hide', async () => {
    const provider = await startProvider();
    const to = `Ann\u202E${'x'.repeat(150)}\u200B\u0007END`;
    const pay = { toolCalls: [{ name: 'pay', arguments: { to, amount: 250 } }] };
    provider.mock.on({ userMessage: 'pay' }, pay);
    const { page } = await open(provider);
    await write(page, 'pay');
    const shown = page.getByRole('group', { name: 'Approval of pay' }).locator('.approval-arguments');
    await shown.waitFor();
    expect(await shown.textContent()).toBe(
      `{\n  "to": "AnnU+202E${'x'.repeat(150)}U+200B\\u0007END",\n  "amount": 250\n}`,
    );
    await shown.locator('mark').nth(1).waitFor(); // the page draws the arguments again when the state arrives
    expect(await shown.locator('mark').allTextContents()).toEqual(['U+202E', 'U+200B']);
    const hidden = await page.evaluate<number[]>(
      "(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => [scrollWidth - clientWidth, scrollHeight - clientHeight])(document.querySelector('.approval-arguments'))",
    );
    expect(hidden).toEqual([0, 0]);
    const whole = (await page.getByRole('main').textContent()) ?? '';
    expect(whole).not.toMatch(/[\u202E\u200B]/);
  });
});
