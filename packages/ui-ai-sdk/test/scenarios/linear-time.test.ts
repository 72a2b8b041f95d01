import { expect, test } from 'vitest';
import { fasterGrowth, repeated, type Pump, type Work } from '../../../../tools/config/vitest.growth.ts';
import { toolPartChunks } from '../../src/chunks/tool-chunks.ts';
import { readCommand } from '../../src/handler/request/incoming.ts';
import { mountedRequest } from '../../src/handler/request/mount.ts';
import { readBody } from '../../src/handler/request/request-body.ts';
import { isDataPart } from '../../src/messages/data-parts.ts';
import { readServerSentEvents } from '../../src/wire/server-sent-events.ts';

/** What a page or a server sends, however long, costs linear time: 1 MB takes at most six times as long as 256 KB. */

const pumpsOf = (...pieces: readonly string[]): readonly Pump[] => pieces.map((piece) => repeated(piece));
const texts = pumpsOf('a', ' ', '/', 'a/', '=', '__proto', '\n', ';');

/** Returns the result of the work, or its error: a refusal takes time too. */
function tried(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const BOUNDS = { acceptsFileUrl: () => true, values: 10_000 };
const sent = (message: object, rest: object = {}): unknown =>
  tried(() => readCommand({ trigger: 'submit-message', message, ...rest }, BOUNDS));
const file = (mediaType: string, url: string): unknown =>
  sent({ id: 'm', role: 'user', parts: [{ type: 'file', mediaType, url }] });

/** A body that arrives in pieces of some bytes. */
function bodyOf(text: string, length: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, (at += length)));
    },
  });
}

async function eventsIn(text: string): Promise<number> {
  let count = 0;
  for await (const _ of readServerSentEvents(bodyOf(text, 64))) count++;
  return count;
}

const works: Readonly<Record<string, readonly [Work, readonly Pump[]]>> = {
  'an id': [(text) => sent({ id: text, role: 'user', parts: [] }, { replaces: text }), texts],
  'a media type': [(text) => file(text, 'data:image/png;base64,AAAA'), texts],
  'the URL of a file': [(text) => file('image/png', `data:image/png;base64,${text}`), texts],
  'the types of parts': [
    (text) => [isDataPart({ type: text }), isDataPart({ type: `data-${text}`, data: 1 })],
    texts,
  ],
  'the input of a call': [
    (text) =>
      toolPartChunks({ type: 'tool-a', toolCallId: '1', state: 'output-available', input: text, output: 1 }),
    texts,
  ],
  'a content type': [
    async (text) => {
      const headers = { 'content-type': `application/json ${text.trim()}a` };
      const request = new Request('http://a.example', { method: 'POST', headers, body: '{}' });
      return readBody(request, mountedRequest(undefined), 1e7).catch(String);
    },
    pumpsOf('a', ' ;', 'json'),
  ],
  'one long event': [(text) => eventsIn(`data: ${JSON.stringify(text)}\n\n`), pumpsOf('a')],
  'many short events': [eventsIn, pumpsOf('data: {}\n\n', '\n', ': \n\n')],
};

test.each(Object.entries(works))('%s', async (_, [work, pumps]) => {
  expect(await fasterGrowth(work, pumps)).toEqual([]);
});
