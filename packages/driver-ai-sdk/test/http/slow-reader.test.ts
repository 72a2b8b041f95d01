import { createOpenAI } from '@ai-sdk/openai';
import { AgentState, createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

const CHUNKS = 6_000;
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

/** A provider that writes an answer of 48 MB as fast as its connection takes it. */
async function fastProvider() {
  const written = { chunks: 0 };
  const server = createServer((request, response) => {
    request.resume();
    void (async () => {
      for (; written.chunks < CHUNKS; written.chunks++)
        if (!response.write(chunk({ content: 'x'.repeat(8_000) }))) await once(response, 'drain');
      response.end(chunk({}, 'stop'));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, written };
}

/** The unread events (1,000), and the chunks in the buffers of sockets and streams. */
const MAX_LEAD = 3_500;

test('a provider that is faster than the reader of the stream waits for the reader', async () => {
  const { url, written } = await fastProvider();
  const model = createOpenAI({ baseURL: url, apiKey: 'none' }).chat('m');
  const stream = createAgentLoop({ driver: aiSdkDriver({ model }) }).stream(
    AgentState.empty().withUserMessage('Write much.'),
  );
  let [read, lead] = [0, 0];
  for await (const { type } of stream) {
    if (type === 'inference-delta') read++;
    lead = Math.max(lead, written.chunks - read);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(read).toBe(CHUNKS);
  expect(lead).toBeLessThan(MAX_LEAD);
  expect((await stream.result).finalResponse).toHaveLength(CHUNKS * 8_000);
});
