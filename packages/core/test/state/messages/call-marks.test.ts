import type { ToolCallPart } from '@holdfast/core';
import {
  InferenceResponse,
  callMarksOf,
  toolCallsOf,
  withCallMarks,
  withoutCallMarks,
} from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';

const call: ToolCallPart = {
  type: 'tool-call',
  toolCallId: 'call_1',
  toolName: 'search',
  input: {},
  providerExecuted: true,
  providerOptions: { openai: { itemId: 'i' } },
};

describe('the marks of a call', () => {
  test('are added, and are not among the options that a driver sends', () => {
    const marked = withCallMarks(withCallMarks(call, { approvalId: 'a' }), { isDeferred: true });
    expect(callMarksOf(marked)).toEqual({ approvalId: 'a', isDeferred: true });
    expect(withoutCallMarks(marked.providerOptions)).toEqual(call.providerOptions);
    expect([withoutCallMarks(undefined), withoutCallMarks(call.providerOptions)]).toEqual([
      undefined,
      call.providerOptions,
    ]);
  });

  test('are absent in other calls, and no marks change nothing', () => {
    expect(callMarksOf(call)).toEqual({});
    expect(callMarksOf({ providerOptions: { holdfast: ['approvalId'] } })).toEqual({});
    expect(callMarksOf({ providerOptions: { holdfast: { approvalId: 5, isDeferred: 'yes' } } })).toEqual({});
    expect(withCallMarks(call, {})).toBe(call);
  });

  test('of an approval give the call to the loop, and others leave it to the provider', () => {
    const content = [
      call,
      withCallMarks(call, { isDeferred: true }),
      withCallMarks(call, { approvalId: 'a' }),
    ];
    expect(toolCallsOf(content)).toEqual([content[2]]);
    expect(InferenceResponse.of({ content }).finishReason).toBe('tool-calls');
  });
});
