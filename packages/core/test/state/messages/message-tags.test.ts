import { expect, test } from 'vitest';
import { AgentState, AgentStep, assistantMessage, userMessage } from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { executionIdOf, isTrace } from '@holdfast/core/engine';
import { START as T } from '../../support/arbitraries.ts';

const begun = AgentState.empty({ at: T })
  .withMessages([userMessage('a', { metadata: { from: 'ann' } })], T)
  .withExecutionStatus('inProgress', T);
const step = AgentStep.create(begun.messages)
  .withResponse(InferenceResponse.of({ text: 'Hi' }))
  .withOutput();
const state = begun.withCurrentStep(step, T).withCurrentStepCompleted(T);

test('outside a session, only a message of a step names its execution', () => {
  expect([...state.messages].map(executionIdOf)).toEqual([undefined, state.executionId]);
  expect(executionIdOf(userMessage('a'))).toBeUndefined();
  const stored = { ...userMessage('a'), metadata: { execution_id: 5 } };
  expect(executionIdOf(stored)).toBeUndefined();
});

test('only `true` marks a message as a trace', () => {
  expect([...state.messages].map(isTrace)).toEqual([false, false]);
  expect(isTrace({ ...assistantMessage('a'), metadata: { is_trace: 'yes' } })).toBe(false);
  expect(isTrace({ ...assistantMessage('a'), metadata: { is_trace: true } })).toBe(true);
});

/** The stored state with other metadata in the message that its step added. */
function withStoredMetadata(change: (metadata: object) => object | undefined): AgentState {
  const document = JSON.parse(JSON.stringify(state)) as {
    context: { sections: { messages: { metadata?: object | undefined }[] }[] };
  };
  const message = document.context.sections[0]?.messages.at(-1);
  if (message === undefined) throw new TypeError('There is a message.');
  message.metadata = change(message.metadata ?? {});
  return AgentState.fromJSON(JSON.parse(JSON.stringify(document)));
}

test('the output of a step has no tags and all other metadata', () => {
  const [said] = state.lastStep?.output ?? [];
  expect(said).toEqual(step.output[0]);
  expect(said).not.toHaveProperty('metadata');
  const noted = withStoredMetadata((tags) => ({ ...tags, note: 1, is_trace: true, more: [2] }));
  expect(noted.lastStep?.output[0]).toEqual({ ...step.output[0], metadata: { note: 1, more: [2] } });
  expect(Object.isFrozen(noted.lastStep?.output[0]?.metadata)).toBe(true);
});

test('a message without tags is returned as it is', () => {
  for (const metadata of [undefined, { note: 1 }]) {
    const untagged = withStoredMetadata(() => metadata);
    expect(untagged.lastStep?.output[0]).toBe(untagged.messages.last);
  }
});
