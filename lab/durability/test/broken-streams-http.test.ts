import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sendMessage, systemClock, type AgentEvent, type SessionRuntime } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { httpRuntime } from '../src/http-agent.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PIECES = ['Paid', ' as', ' you', ' wished.'];
const TEXT = PIECES.join('');
const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{}' } };

/** Chunks of a response. Each has the usage until then, as of a provider that reports it continuously. */
function chunks(deltas: readonly object[], finish: string): readonly object[] {
  const last = { delta: {}, finish_reason: finish };
  return [...deltas.map((delta) => ({ delta })), last].map((choice, index) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'gpt-5',
    choices: [{ index: 0, ...choice }],
    usage: { prompt_tokens: 100, completion_tokens: index },
  }));
}

const PAY = chunks([{ role: 'assistant', tool_calls: [CALL] }], 'tool_calls');
const WORDS = chunks(
  PIECES.map((content) => ({ role: 'assistant', content })),
  'stop',
);
/** The last chunk finishes the response: a stream that breaks after it is not broken for the driver. */
const BREAKS = WORDS.map((_, index) => index);

/** How a stream breaks: the connection ends as if the response were complete, or it is reset. */
type Break = 'ends' | 'is reset';

let replies: Reply[] = [];
let server: Server;
let url: string;
let store: SqliteSessionStore;
let runtime: SessionRuntime;
let payments = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    response.flushHeaders();
    void replies.shift()?.(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  store = await SqliteSessionStore.open({ path: join(temporaryFolder(), 'sessions.db') });
  const inferenceRetry = { initialDelaySeconds: 0.001 };
  runtime = httpRuntime({ url, store, clock: systemClock, pay: () => payments++, inferenceRetry });
});

afterAll(async () => {
  await store.close();
  server.close();
});

beforeEach(() => {
  payments = 0;
});

test.each(BREAKS.flatMap((after) => (['ends', 'is reset'] as const).map((how) => [after, how] as const)))(
  'a stream that after %i events %s is repeated as the same step',
  async (after, how) => {
    replies = [whole(PAY), broken(WORDS.slice(0, after), how), whole(WORDS)];
    const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
    const seen = { events: [] as AgentEvent['type'][], discarded: '', text: '' };
    const { state } = await runtime.execute(sessionId, sendMessage('Pay.'), {
      onEvent(event) {
        seen.events.push(event.type);
        if (event.type === 'inference-delta' && event.delta.type === 'text') seen.text += event.delta.text;
        if (event.type !== 'step-restarted') return;
        expect(event.attempt).toBe(2);
        seen.discarded = seen.text;
        seen.text = '';
      },
    });
    expect(seen.events.filter((type) => type === 'step-restarted')).toHaveLength(1);
    expect(seen.events.filter((type) => type === 'step-started')).toHaveLength(2);
    // A reset may overtake the events before it.
    const arrived = Array.from({ length: after + 1 }, (_, count) => PIECES.slice(0, count).join(''));
    expect(how === 'ends' ? arrived.slice(-1) : arrived).toContain(seen.discarded);
    expect(seen.text).toBe(TEXT);

    expect([state.status, state.finalResponse, payments]).toEqual(['completed', TEXT, 1]);
    expect(state.messages.toArray().map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(state.steps.map(({ inferenceFailures }) => inferenceFailures.length)).toEqual([0, 1]);
    expect(state.lastStep?.inferenceFailures[0]?.error.code).toBe('DRIVER_NETWORK');
    const outputs = [PAY.length - 1, WORDS.length - 1];
    // The driver knows the usage of a broken response only when its stream ends. Otherwise a part that arrived is estimated.
    const billed = how === 'ends' && after > 0 ? [after - 1] : [];
    const { inputTokens = 0, outputTokens = 0, unreportedCalls } = state.usage;
    const isEstimated = unreportedCalls > 0;
    const known = {
      inputTokens: 100 * (outputs.length + billed.length),
      outputTokens: [...outputs, ...billed].reduce((sum, each) => sum + each),
    };
    expect(isEstimated).toBe(how === 'is reset' && seen.discarded !== '');
    expect(isEstimated ? inputTokens > known.inputTokens : inputTokens === known.inputTokens).toBe(true);
    expect(isEstimated ? outputTokens > known.outputTokens : outputTokens === known.outputTokens).toBe(true);
    expect((await runtime.get(sessionId)).state.toJSON()).toEqual(state.toJSON());
  },
);

/** A reply: it writes the response of one request. */
type Reply = (response: ServerResponse) => Promise<void>;

function whole(events: readonly object[]): Reply {
  return async (response) => {
    for (const event of events) await write(response, event);
    response.end('data: [DONE]\n\n');
  };
}

function broken(events: readonly object[], how: Break): Reply {
  return async (response) => {
    for (const event of events) await write(response, event);
    if (how === 'ends') response.end();
    else response.destroy();
  };
}

/** Writes an event, and resolves when the system has it. */
function write(response: ServerResponse, event: object): Promise<void> {
  return new Promise((resolve) => response.write(`data: ${JSON.stringify(event)}\n\n`, () => resolve()));
}
