import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { InferenceResponse } from '@holdfast/core/driver';
import { expectDeeplyFrozen } from '../../support/arbitraries.ts';
import { addCall, throughText } from '../../support/step-parts.ts';

describe('responses', () => {
  test('have the default finish reason of their content', () => {
    expect(InferenceResponse.of({ text: 'a' }).finishReason).toBe('stop');
    expect(InferenceResponse.of({ content: [addCall] }).finishReason).toBe('tool-calls');
    expect(InferenceResponse.of({ content: [{ ...addCall, providerExecuted: true }] }).finishReason).toBe(
      'stop',
    );
    expect(InferenceResponse.of({ content: [addCall], finishReason: 'length' }).finishReason).toBe('length');
    expect(InferenceResponse.of({ content: [] }).content).toEqual([]);
  });
  const bad: readonly object[] = [
    { content: 'text' },
    { content: [{ type: 'text' }] },
    { content: [{ type: 'image', data: '' }] },
    { text: 'a', finishReason: 'bored' },
    { text: 'a', modelId: 5 },
    { text: 'a', rawFinishReason: null },
    { text: 'a', responseId: {} },
    { text: 'a', providerMetadata: 'x' },
  ];
  test.for(bad)('%j is refused', (init) => {
    expect(() => InferenceResponse.of(init)).toThrow(expect.objectContaining({ code: 'INFERENCE_INVALID' }));
  });
  test('are restored from JSON', () => {
    const response = InferenceResponse.of({
      content: [addCall],
      rawFinishReason: 'x',
      modelId: 'm',
      responseId: 'r',
      providerMetadata: { a: { b: 1 } },
    });
    assert.deepStrictEqual(InferenceResponse.fromJSON(throughText(response)), response);
    expectDeeplyFrozen(response);
    expect(response.withUsage(response.usage)).toBe(response);
  });
});
