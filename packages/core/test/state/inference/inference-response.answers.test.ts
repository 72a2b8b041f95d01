import { describe, expect, test } from 'vitest';
import { Usage } from '@holdfast/core';
import { InferenceResponse, type AssistantPart, type InferenceResponseInit } from '@holdfast/core/driver';
import { expectDeeplyFrozen } from '../../support/arbitraries.ts';

const call = (toolCallId: string, input = {}): AssistantPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'add',
  input,
});
const text: AssistantPart = { type: 'text', text: 'so' };

describe('valid and invalid responses of a driver', () => {
  test.for<[string, InferenceResponseInit, readonly AssistantPart[]]>([
    ['a text', { text: 'so' }, [text]],
    ['no text', { text: '' }, []],
    ['content', { content: [text] }, [text]],
    ['content equal to the text', { content: [text], text: 'so' }, [text]],
    ['only a finish reason', { finishReason: 'length' }, []],
  ])('%s', ([, init, content]) => expect(InferenceResponse.of(init).content).toEqual(content));

  test('a response is returned as it is', () => {
    const response = InferenceResponse.of({ text: 'so' });
    expect(InferenceResponse.of(response)).toBe(response);
  });

  test('usage is accepted as numbers, as a Usage, or absent', () => {
    const usage = Usage.of({ inputTokens: 1, outputTokens: 2, cost: 3 });
    expect(InferenceResponse.of({ text: 'a', usage }).usage).toBe(usage);
    expect(InferenceResponse.of({ text: 'a', usage: usage.toJSON() }).usage).toEqual(usage);
    expect(InferenceResponse.of({ text: 'a' }).usage).toBe(Usage.unreported);
    const free = InferenceResponse.of({ text: 'a', usage: Usage.none });
    expect(InferenceResponse.fromJSON(JSON.parse(JSON.stringify(free)))).toEqual(free);
  });

  test.for<[string, unknown, found: string]>([
    ['no response', undefined, 'Expected content, text or a finish reason, found nothing.'],
    ['null', null, 'found null.'],
    ['a text alone', 'so', 'found string "so".'],
    ['a number', 5, 'found number 5.'],
    ['an object that says nothing', {}, 'found an object.'],
    ['a text that is not a string', { text: null }, '$[0].text'],
    ['content that is none', { content: 'so' }, 'expected an array, found string "so".'],
    ['content that is not JSON', { content: [call('a', { n: 1n })] }, 'A BigInt in "n" is not JSON'],
    ['an unknown finish reason', { text: 'a', finishReason: 'bored' }, '$.finishReason'],
    ['invalid usage', { text: 'a', usage: { tokens: 1 } }, '$.tokens'],
  ])('but not with %s', ([, init, found]) => {
    expect(() => InferenceResponse.of(init as InferenceResponseInit)).toThrow(
      expect.objectContaining({
        code: 'INFERENCE_INVALID',
        message: expect.stringMatching(/^The driver's response is not valid\. ./) as string,
      }),
    );
    expect(() => InferenceResponse.of(init as InferenceResponseInit)).toThrow(found);
  });

  test('the error names its cause', () => {
    expect(() => InferenceResponse.of({ content: [{ type: 'nonsense' } as never] })).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ path: '$[0].type' }) as object }),
    );
  });
});

test('accessors return text, reasoning and tool calls', () => {
  const response = InferenceResponse.of({
    content: [{ type: 'reasoning', text: 'hm' }, text, { type: 'reasoning', text: 'm' }, call('a'), text],
  });
  expect([response.text, response.reasoning, response.hasToolCalls]).toEqual(['soso', 'hmm', true]);
  expect(response.toolCalls).toEqual([call('a')]);
});

test.for<[given: string[], kept: string[]]>([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    ['a', 'a'],
    ['a', 'a_2'],
  ],
  [
    ['a', 'b', 'a', 'b', 'a'],
    ['a', 'b', 'a_2', 'b_2', 'a_3'],
  ],
  [
    ['a', 'a', 'a_2'],
    ['a', 'a_3', 'a_2'],
  ],
  [
    ['a_2', 'a', 'a_2', 'a', 'a'],
    ['a_2', 'a', 'a_2_2', 'a_3', 'a_4'],
  ],
])('calls %j become %j: a result belongs to one call', ([given, kept]) => {
  const content = [text, ...given.map((id, index) => call(id, { index })), text];
  const response = InferenceResponse.of({ content });
  expect(response.content).toEqual([text, ...kept.map((id, index) => call(id, { index })), text]);
  expectDeeplyFrozen(response);
});
