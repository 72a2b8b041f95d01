import { AgentSession, assistantMessage, userMessage } from '@holdfast/core';
import { until } from 'test-servers';
import { describe, expect, test } from 'vitest';
import { EFFORT } from '../effort.ts';
import { CHAT_STORES, storeOfBlock } from './support/chat-stores.ts';
import { ChatWorld, SESSION_ID } from './support/chat-world.ts';
import { CountedPage } from './support/counted-page.ts';

const MESSAGES = 2_000;
const TEXT = 'Take the train. '.repeat(64);
const LARGE = 300_000;
const LIMIT = 20_000;

describe.each(CHAT_STORES)('the bytes of a step on $name', (tested) => {
  const store = storeOfBlock(tested);

  test.each([
    [`a history of ${MESSAGES} messages`, MESSAGES, 'call work {}'],
    [`a response of ${LARGE} bytes`, 0, `call work {"note":"${'x'.repeat(LARGE)}"}`],
  ])('do not grow with %s', async (_, count, firstLine) => {
    await using world = await ChatWorld.of(store);
    const session = AgentSession.create({
      sessionId: SESSION_ID,
      owner: 'ada',
      definition: { name: 'writer' },
    });
    const turns = Array.from({ length: count / 2 }, () => [userMessage('How?'), assistantMessage(TEXT)]);
    await world.store.create(session.withState(session.state.withMessages(turns.flat())));
    await world.startBoth();
    using page = new CountedPage(world.url);
    await until('the page has loaded', () => page.chat.messages.length === count);
    const history = page.bytes;
    const { chat } = page;
    const sent = await page.bytesOf(
      () => chat.sendMessage({ text: TEXT }),
      () => page.lastText === TEXT,
    );
    await chat.sendMessage({ text: `${firstLine}\ncall pay {}\n${TEXT}` });
    const part = chat.lastMessage?.parts.at(-1);
    if (part?.type !== 'tool-pay') throw new Error('No call waits for approval.');
    const decided = await page.bytesOf(
      () => chat.addToolApprovalResponse({ id: part.approval?.id ?? '', approved: true }),
      () => page.lastText === TEXT,
    );
    if (EFFORT > 1)
      console.log(`${tested.name}: history ${history}, step ${sent}, decision ${decided} bytes`);
    expect(sent).toBeLessThan(LIMIT);
    expect(decided).toBeLessThan(LIMIT);
  });
});
