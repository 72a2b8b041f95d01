import { createAgentLoop, hasErrorCode } from '@holdfast/core';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { does, observe, told } from '../support/builders.ts';

const run = (driver: ReturnType<typeof scriptedDriver>) =>
  createAgentLoop({ driver, tools: [does('a')] }).run(told());

test('one call more than there are answers fails, in the state and in assertComplete', async () => {
  const driver = scriptedDriver({ calls: { a: {} } });
  const state = await run(driver);
  expect(state.status).toBe('failed');
  expect(state.errors).toMatchObject([{ code: 'SCRIPT_MISMATCH' }]);
  expect(state.errors[0]?.message).toBe('The script has 1 responses, but this is call 2 of the driver.');
  expect(() => driver.assertComplete()).toThrow(
    'The script has 1 responses, but the driver was called 2 times.',
  );
});

test('answers left over fail', async () => {
  const driver = scriptedDriver('Hi.', 'Never said.');
  await run(driver);
  const left = (() => {
    try {
      return driver.assertComplete();
    } catch (error) {
      return error;
    }
  })();
  expect(hasErrorCode(left, 'SCRIPT_MISMATCH')).toBe(true);
});

test('a script that was played to its end is complete', async () => {
  const driver = scriptedDriver('Hi.');
  await run(driver);
  expect(() => driver.assertComplete()).not.toThrow();
  expect(driver.requests[0]?.messages.length).toBe(1);
});

const answers: readonly (readonly [string, ScriptedAnswer])[] = [
  ['a text', 'Hi.'],
  ['an answer in full', { text: 'Hi.', finishReason: 'stop' }],
  ['a function of a text', () => 'Hi.'],
  ['a function of a function', () => async () => 'Hi.'],
];
test.each(answers)('%s is an answer', async (_, answer) => {
  const { state } = await observe({ script: [answer] });
  expect([state.finalResponse, state.usage.totalTokens]).toEqual(['Hi.', 15]);
});

test('calls are told apart over turns and within one', async () => {
  const calls: ScriptedAnswer = {
    calls: [
      ['a', 1],
      ['a', 2],
    ],
  };
  const { state } = await observe({ script: [calls, calls, 'Hi.'], tools: [does('a')] });
  const ids = state.steps.flatMap((step) => step.requestedToolCalls.map(({ toolCallId }) => toolCallId));
  expect(ids).toEqual(['call_1_1', 'call_1_2', 'call_2_1', 'call_2_2']);
});
