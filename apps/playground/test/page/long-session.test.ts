import { browserOfBlock, isWithoutChromium } from 'app-testing';
import { describe, expect, test } from 'vitest';
import { isTaken, log, openPage, pill, state, write } from '../support/page.ts';
import { serveHere, storeLongSession } from '../support/served-here.ts';

describe.skipIf(isWithoutChromium).concurrent('a page with 2,000 messages', () => {
  const browser = browserOfBlock();
  test('loads none of them again in a turn', async () => {
    await using served = await serveHere();
    const sessionId = await storeLongSession(served.playground, 2_000);
    const { page, complaints } = await openPage(browser(), `${served.client.url}/#/${sessionId}`);
    await log(page).getByText('1999 word').waitFor();
    await state(page).getByText('The last 200 messages.').waitFor();
    const sizes: [path: string, bytes: Promise<number>][] = [];
    page.on('requestfinished', (request) => {
      const bytes = request.sizes().then(({ responseBodySize }) => responseBodySize);
      sizes.push([new URL(request.url()).pathname, bytes]);
    });
    const settled = page.waitForResponse(/watch$/); // a page that reads no response follows versions
    await write(page, 'what is 17 * 23? remember it');
    await log(page).getByText('17 * 23 = 391. I noted').waitFor();
    await pill(page, 'completed').waitFor();
    await isTaken(page);
    await settled;
    expect(sizes.map(([path]) => path)).not.toContain(`/api/chat/${sessionId}`);
    const total = (await Promise.all(sizes.map(([, bytes]) => bytes))).reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThan(100_000);
    expect(complaints).toEqual([]);
  });
});
