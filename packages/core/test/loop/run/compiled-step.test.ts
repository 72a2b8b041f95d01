import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  systemMessage,
  tool,
  userMessage,
  type Message,
} from '@holdfast/core';
import { DriverError, STRICTEST_FORM, toolMessage, type RefusedPlace } from '@holdfast/core/driver';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: () => 'a cat',
});

function call(toolCallId: string) {
  return { type: 'tool-call', toolCallId, toolName: 'look', input: {} } as const;
}

function result(toolCallId: string, value: string) {
  return { type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value } } as const;
}

function refusal(...[messages, path]: [RefusedPlace['messages'], string?]): DriverError {
  const refused = { ...(path !== undefined && { path }), messages };
  return new DriverError('invalidRequest', 'Refused.', { refused, data: { statusCode: 400 } });
}

/** Runs on these messages. The provider takes the strictest form, and refuses. */
async function failed(messages: readonly Message[], ...script: readonly (ScriptedAnswer | Error)[]) {
  const driver = { ...scriptedDriver(...script), formOf: () => STRICTEST_FORM };
  const loop = createAgentLoop({ driver, tools: [look], compiler: (state) => state.messages });
  const state = await loop.run(AgentState.empty().withMessages(messages));
  const error = state.errors.at(-1);
  const { refused } = (error?.data ?? {}) as {
    readonly refused?: { readonly messages: readonly { id: string }[] };
  };
  const marked = state.steps.flatMap(({ id }) =>
    (loop.compiledFor?.(state, id).messages ?? []).filter(({ isRefused }) => isRefused),
  );
  return { state, error, refused, named: refused?.messages.map(({ id }) => id), marked };
}

describe('the error of a refusal names the message of the state', () => {
  const history = [
    systemMessage('Be brief.'),
    userMessage('How is it?'),
    assistantMessage('   '),
    userMessage('Well?'),
    assistantMessage([call('a:1'), call('a:2')]),
    toolMessage([result('a:1', 'sun'), result('a:2', 'rain')]),
    userMessage('x'.repeat(200)),
  ];
  const ids = history.map(({ id }) => id);

  // Sent are: system, user (two joined), call, result, call, result, a note, user.
  test.each([
    ['a message', 7, [6]],
    ['a message of the system', 0, [0]],
    ['two messages that were joined', 1, [1, 3]],
    ['the first of several calls', 2, [4]],
    ['the second of several calls', 4, [4]],
    ['the first of several results', 3, [5]],
    ['the second of several results', 5, [5]],
    ['a message that the loop added', 6, []],
    ['a message that was not sent', 8, []],
  ])('%s', async (_, index, places) => {
    const { named, marked } = await failed(history, refusal([index], 'messages.9'));
    expect(named).toEqual(places.map((place) => ids[place]));
    expect(new Set(marked.map(({ said }) => said?.id))).toEqual(new Set(named));
  });

  test('with its id, its role and the start of its text, and keeps the facts of the driver', async () => {
    const { error, state } = await failed(history, refusal([7], 'messages.6'));
    const text = `${'x'.repeat(80)}…`;
    const advice = 'A fork() before it, editMessage() or a compiler without it continues the session.';
    expect(error).toMatchObject({
      code: 'DRIVER_INVALID_REQUEST',
      message: `Refused. At messages.6, the provider refused the user message "${ids[6]}", which begins with "${text}". ${advice}`,
      data: {
        statusCode: 400,
        refused: { path: 'messages.6', messages: [{ id: ids[6], role: 'user', text }] },
      },
      cause: { message: 'Refused.' },
    });
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  test('one of several', async () => {
    const { error } = await failed(history, refusal([1, 2, 3]));
    expect(error?.message).toMatch(
      /refused one of these messages: the user message ".*"; .*; and 1 more\. A fork\(\) before them, /,
    );
  });

  test('with the step that made it', async () => {
    const { state, refused } = await failed([userMessage('u')], { calls: { look: {} } }, refusal([2]));
    const stepId = state.steps[0]?.id;
    expect(refused).toEqual({
      messages: [{ id: state.messages.last?.id, role: 'tool', text: 'a cat', stepId }],
    });
  });
});

test.each([
  [[[]], 'Refused. The text of the provider names no message.'],
  [[[], 'messages.9'], 'Refused. It is not known which message is at messages.9.'],
] as const)('an error says that the message is not known: %j', async ([messages, path], message) => {
  const { error, named } = await failed([userMessage('u')], refusal(messages, path));
  expect([error?.message, named]).toEqual([message, []]);
});

test('an error of no provider stays as it is', async () => {
  const { error } = await failed([userMessage('u')], new DriverError('invalidRequest', 'Unknown level.'));
  expect(error).toMatchObject({ name: 'DriverError', message: 'Unknown level.' });
  expect(error).not.toHaveProperty('data');
});

test('the second refusal is the one that counts: its form is another one', async () => {
  const driver = scriptedDriver(refusal([0]), refusal([1]));
  const messages = [assistantMessage('Hello.'), userMessage('u')];
  const state = await createAgentLoop({ driver }).run(AgentState.empty().withMessages(messages));
  expect(driver.requests.map((request) => request.messages.length)).toEqual([2, 3]);
  expect(state.errors.at(-1)?.data).toMatchObject({ refused: { messages: [{ id: messages[0]?.id }] } });
});
