import { assistantMessage, type ToolCallPart } from '@holdfast/core';
import { STRICTEST_FORM, toolMessage, USUAL_FORM, type ToolMessage } from '@holdfast/core/driver';
import { expect, test } from 'vitest';
import { withSingleCalls } from '../../../src/loop/sending/single-calls.ts';
import { line } from '../../support/written.ts';

function call(toolCallId: string): ToolCallPart {
  return { type: 'tool-call', toolCallId, toolName: 'look', input: {} };
}

function results(...ids: readonly string[]): ToolMessage {
  const output = { type: 'text', value: 'y' } as const;
  return toolMessage(
    ids.map((toolCallId) => ({ type: 'tool-result', toolCallId, toolName: 'look', output })),
  );
}

const text = { type: 'text', text: 'x' } as const;

test('each call stands right before its result', () => {
  const answer = assistantMessage([text, call('1'), call('2')]);
  const messages = withSingleCalls(answer, results('2', '1'), USUAL_FORM) ?? [];
  expect(line(messages)).toBe('a:x,1 t:1 a:2 t:2');
});

test('each message has the text that the provider demands', () => {
  const answer = assistantMessage([call('1'), call('2')]);
  const messages = withSingleCalls(answer, results('1', '2'), STRICTEST_FORM) ?? [];
  expect(messages.map(({ content }) => content[0])).toMatchObject([
    { type: 'text', text: '(calls a tool)' },
    { toolCallId: '1' },
    { type: 'text', text: '(calls a tool)' },
    { toolCallId: '2' },
  ]);
});

test('a text after a call moves before it', () => {
  const answer = assistantMessage([call('1'), text]);
  expect(line(withSingleCalls(answer, results('1'), USUAL_FORM) ?? [])).toBe('a:x,1 t:1');
});

test('an answer with one call at its end needs no change', () => {
  const answer = assistantMessage([text, call('1')]);
  expect(withSingleCalls(answer, results('1'), USUAL_FORM)).toBeUndefined();
});
