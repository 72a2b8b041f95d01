import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { serveHere, storeLongSession } from '../support/served-here.ts';

test('a turn in a long session sends what is new, and no more', async () => {
  await using served = await serveHere();
  const { playground, client } = served;
  const sessionId = await storeLongSession(playground, 2_000);
  const received = { bytes: 0 };
  const views = client.views(sessionId, received);
  const first = (await views.next()).value;
  expect([first?.messageCount, first?.messages.length]).toEqual([2_000, 200]);
  expect(received.bytes).toBeLessThan(100_000);

  received.bytes = 0;
  const answer = await (await client.say(sessionId, 'what is 17 * 23? remember it')).text();
  expect(answer).toContain('17 * 23 = 391');
  for await (const view of views) {
    if (view.executionStatus !== 'completed') continue;
    expect([view.messageCount, view.messages.length]).toEqual([2_006, 200]);
    expect(view.messages.at(-1)?.summary).toContain('17 * 23 = 391');
    break;
  }
  expect(answer.length + received.bytes).toBeLessThan(100_000);
});

test('the list of sessions loads no session', async () => {
  await using served = await serveHere();
  const { playground, client } = served;
  const long = await storeLongSession(playground, 100);
  const short = randomUUID();
  await client.ask(short, 'what is 2 + 2?');
  const load = vi.spyOn(playground.store, 'load');
  const { value } = await client.json('GET', '/api/sessions');
  expect(value).toMatchObject({
    sessions: [
      { sessionId: short, title: 'what is 2 + 2?', executionStatus: 'completed', isRunning: false },
      { sessionId: long, title: 'Long' },
    ],
  });
  expect(load).not.toHaveBeenCalled();
});
