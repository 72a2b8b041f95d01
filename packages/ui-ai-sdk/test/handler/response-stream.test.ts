import { scriptedDriver } from '@holdfast/core/testing';
import type { UIMessageChunk } from 'ai';
import { expect, test } from 'vitest';
import { messageBody, requestOf } from '../support/chat-requests.ts';
import { chatWorld } from '../support/chat-world.ts';

test('a long text comes in small pieces, and each character as a whole', async () => {
  // Between the quotation marks, the pairs of surrogates begin at odd indexes in some pieces and at even ones in others.
  const text = `${'😀'.repeat(100_000)}"${'😀'.repeat(100_000)}`;
  await using world = await chatWorld({
    driver: scriptedDriver({ content: [{ type: 'text', text }] }),
  });
  const response = await world.handler(requestOf('POST', '', messageBody('c1', 'm1', 'Smile.')));
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) pieces.push(piece);
  const largest = Math.max(...pieces.map(({ byteLength }) => byteLength));
  expect(largest).toBeLessThan(200_000);
  expect(deltas(Buffer.concat(pieces).toString())).toBe(text);
});

/** Returns the text of a stream of chunks. */
function deltas(stream: string): string {
  const events = stream.split('\n\n').filter((event) => event.startsWith('data: {'));
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as UIMessageChunk);
  return chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
}
