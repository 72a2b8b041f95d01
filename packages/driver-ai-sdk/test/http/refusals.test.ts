import { createOpenAI } from '@ai-sdk/openai';
import {
  AgentState,
  consoleObserver,
  createAgentLoop,
  HoldfastError,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
} from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { aiSdkTelemetry, type TelemetryIntegration } from '@holdfast/driver-ai-sdk/telemetry';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { listening, quietly, rejection, request } from '../builders.ts';
import { KEYS, partOf, PLAIN_KEYS, UNLABELLED, WORDINGS } from '../errors/keys.ts';
import { localServer, stopLocalServers, type LocalServer, type Reply } from './local-server.ts';

/** A provider that refuses a call and quotes the key, over HTTP: where does the key get to? */

const KEY = PLAIN_KEYS[0] ?? '';

afterEach(stopLocalServers);

const refused = (message: string, status = 401): Reply => ({
  status,
  json: { error: { message, type: 'invalid_request_error', code: null } },
});

function driverOf({ url }: LocalServer, apiKey = KEY) {
  return aiSdkDriver({ model: createOpenAI({ baseURL: `${url}/v1`, apiKey })('gpt-5'), maxRetries: 0 });
}

/** All that a logger, a debugger or a store could write of an error. */
function shownOf(error: unknown): string {
  const { stack = '' } = error instanceof Error ? error : {};
  return [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), stack].join('\n');
}

function codeOf(error: unknown): unknown {
  return error instanceof HoldfastError ? error.code : undefined;
}

const wordings = [...UNLABELLED, ...WORDINGS];

test.each([401, 403])('nothing of a text with the status %i is in an error', async (status) => {
  const replies = wordings.map((wording) => refused(wording(KEY), status));
  const driver = driverOf(await localServer(...replies, ...replies));
  const errors: unknown[] = [];
  for (const inference of [quietly(), listening()])
    for (const _ of replies) errors.push(await rejection(driver.infer(request([]), inference)));
  expect(errors.map(codeOf)).toEqual(errors.map(() => 'DRIVER_AUTHENTICATION'));
  expect(partOf(KEY, errors.map(shownOf).join('\n'))).toBeUndefined();
});

test('the error says what to do, and nothing of the text', async () => {
  const server = await localServer(refused(`Your key ${KEY} is for another team.`));
  expect(await rejection(driverOf(server).infer(request([]), quietly()))).toMatchObject({
    message:
      'The model "gpt-5" of openai.responses failed (HTTP 401). Check the API key and its permissions.',
    cause: { name: 'AI_APICallError', message: 'The text of a refusal is not shown.' },
  });
});

test('a refusal with another status, and one inside a stream, are not quoted either', async () => {
  const text = `API key not valid: ${KEY}`;
  const events = [
    {
      type: 'error',
      sequence_number: 0,
      error: { type: 'authentication_error', code: 'invalid_api_key', message: text, param: null },
    },
  ];
  const server = await localServer(refused(text, 400), { events });
  const driver = driverOf(server);
  for (const inference of [quietly(), listening()]) {
    const error = await rejection(driver.infer(request([]), inference));
    expect(error).toMatchObject({ code: 'DRIVER_AUTHENTICATION' });
    expect(partOf(KEY, shownOf(error))).toBeUndefined();
  }
});

test('another text is quoted without its key', async () => {
  const keys = Object.values(KEYS);
  const server = await localServer(...keys.map((key) => refused(`Unknown field "x" for ${key}`, 400)));
  const driver = driverOf(server);
  for (const key of keys) {
    const error = await rejection(driver.infer(request([]), quietly()));
    expect(partOf(key.slice(12), shownOf(error))).toBeUndefined();
    expect(error).toMatchObject({ message: expect.stringContaining('Unknown field "x" for [redacted]') });
  }
});

describe('the key is', () => {
  test('in no stored state, no event of the loop or the session, and no line of a log', async () => {
    const server = await localServer(...wordings.map((wording) => refused(wording(KEY))));
    const seen: unknown[] = [];
    const note = (event: unknown): void =>
      void seen.push(inspect(event, { depth: 20, showHidden: true }), JSON.stringify(event));
    const lines = consoleObserver({ write: (line) => void seen.push(line) });
    const agent = createAgentLoop({ driver: driverOf(server), listeners: [note, lines] });
    const store = new MemorySessionStore();
    const runtime = new SessionRuntime({ store, agents: { agent }, onSessionEvent: note });
    for (const _ of wordings) {
      const { sessionId } = await runtime.create({ definition: { name: 'agent' } });
      const { state } = await runtime.execute(sessionId, sendMessage('Hello.'));
      expect(JSON.stringify(state)).toContain('DRIVER_AUTHENTICATION');
      seen.push(JSON.stringify(await store.load(sessionId)));
    }
    expect(seen.join('\n')).toContain('HTTP 401');
    expect(partOf(KEY, seen.join('\n'))).toBeUndefined();
  });

  test('in no event of telemetry', async () => {
    const server = await localServer(refused(`invalid key ${KEY}`), refused(`invalid key ${KEY}`));
    const seen: string[] = [];
    const note = (event: unknown): void => void seen.push(inspect(event, { depth: 20, showHidden: true }));
    const integration: TelemetryIntegration = {
      onStepError: note,
      onError: note,
      executeLanguageModelCall: ({ execute }) => {
        const call = execute();
        call.then(note, note);
        return call;
      },
    };
    const telemetry = aiSdkTelemetry({ integrations: [integration] });
    const loop = telemetry.loop(createAgentLoop(telemetry.options({ driver: driverOf(server) })));
    const state = await loop.run(AgentState.empty().withUserMessage('Hello.'));
    expect(JSON.stringify(state)).toContain('DRIVER_AUTHENTICATION');
    expect(seen.join('\n')).toContain('The text of a refusal is not shown.');
    expect(partOf(KEY, seen.join('\n'))).toBeUndefined();
  });
});
