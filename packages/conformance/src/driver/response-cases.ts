import assert from 'node:assert/strict';
import type { JsonValue } from '@holdfast/core';
import { both, heard, type UngroupedDriverCase } from './driver-case.ts';
import {
  ADD,
  answer,
  assertUsage,
  requestOf,
  respond,
  SUBTRACT,
  textOfDeltas,
  type Inferred,
} from './driver-calls.ts';
import { callWith, type ProviderCall } from './provider.ts';

const TEXT = 'Hello to you, and to your team: 21 °C, 🦊.';
const SUMS = [callWith('call_b', 'add', { a: 1, b: 2 }), callWith('call_a', 'subtract', { a: 30, b: 40 })];
const RICH: JsonValue = { text: '"quoted" \\ naïve\n🦊', list: [1, null, { deep: [] }], none: {}, big: 1e21 };

const sums = requestOf('sums', { tools: [ADD, SUBTRACT] });

/** Asserts the calls of a response, and the arguments that the listener received. */
function assertCalls({ response, deltas }: Inferred, expected: readonly ProviderCall[]): void {
  const calls = response.toolCalls.map(({ toolCallId, toolName, input }) =>
    callWith(toolCallId, toolName, input),
  );
  assert.deepEqual(calls, expected);
  for (const call of expected) {
    const input = textOfDeltas(deltas, 'tool-input', call.id);
    if (input !== '') assert.equal(input, call.arguments);
  }
}

const texts: readonly UngroupedDriverCase[] = [
  ...both('a final response is returned with its usage', [], async (context) => {
    const { response, deltas } = await respond(context, answer({ text: TEXT }));
    assert.equal(response.text, TEXT);
    assert.equal(response.finishReason, 'stop');
    assert.deepEqual(response.toolCalls, []);
    assertUsage(response.usage);
    assert.equal(textOfDeltas(deltas, 'text'), context.isHeard ? TEXT : '');
  }),
  ...both('a long response is returned whole', [], async (context) => {
    const text = `${TEXT} `.repeat(2_000);
    const { response } = await respond(context, answer({ text }));
    assert.equal(response.text, text);
  }),
  ...both('an empty response is returned as a response without text', [], async (context) => {
    const { response, deltas } = await respond(context, answer({}));
    assert.deepEqual([response.text, response.finishReason], ['', 'stop']);
    assert.equal(textOfDeltas(deltas, 'text'), '');
  }),
  ...both('reasoning is returned apart from the text', ['reasoning'], async (context) => {
    const reply = answer({ reasoning: 'Fahrenheit? No.', text: TEXT });
    const { response } = await respond(context, reply);
    assert.deepEqual([response.reasoning, response.text], ['Fahrenheit? No.', TEXT]);
    assert.deepEqual(
      response.content.map(({ type }) => type),
      ['reasoning', 'text'],
    );
  }),
  heard('deltas of reasoning are apart from deltas of text', ['reasoning', 'streaming'], async (context) => {
    const { deltas } = await respond(context, answer({ reasoning: 'Fahrenheit? No.', text: TEXT }));
    assert.equal(textOfDeltas(deltas, 'reasoning'), 'Fahrenheit? No.');
    assert.equal(textOfDeltas(deltas, 'text'), TEXT);
  }),
];

const calls: readonly UngroupedDriverCase[] = [
  ...both('tool calls are returned in order', [], async (context) => {
    const inferred = await respond(context, answer({ text: 'Let me see.', calls: SUMS }), sums);
    assert.equal(inferred.response.text, 'Let me see.');
    assert.equal(inferred.response.finishReason, 'tool-calls');
    assertCalls(inferred, SUMS);
    assertUsage(inferred.response.usage);
  }),
  ...both('arguments of every form are returned as they are', [], async (context) => {
    const rich = [callWith('rich', 'add', RICH), callWith('empty', 'add', {})];
    assertCalls(await respond(context, answer({ calls: rich }), sums), rich);
  }),
  ...both(
    'arguments that are no JSON are returned as text, with the reason',
    ['invalidArguments'],
    async (context) => {
      const broken = { id: 'call_1', name: 'add', arguments: '{"a": 1, "b": ' };
      const sound = callWith('call_2', 'add', { a: 1, b: 2 });
      const { response } = await respond(context, answer({ calls: [broken, sound] }), sums);
      const [first, second] = response.toolCalls;
      assert.equal(response.toolCalls.length, 2);
      assert.equal(first?.input, broken.arguments);
      assert.equal(typeof first?.invalid, 'string', 'The call must state why its arguments are invalid.');
      assert.deepEqual([second?.input, second?.invalid], [{ a: 1, b: 2 }, undefined]);
    },
  ),
];

const facts: readonly UngroupedDriverCase[] = [
  ...both('a truncated response has the finish reason "length"', [], async (context) => {
    const { response } = await respond(context, answer({ text: 'Once upon', finishReason: 'length' }));
    assert.deepEqual([response.finishReason, response.text], ['length', 'Once upon']);
  }),
  ...both('a filtered response has the finish reason "content-filter"', [], async (context) => {
    const { response } = await respond(context, answer({ text: 'I', finishReason: 'content-filter' }));
    assert.equal(response.finishReason, 'content-filter');
  }),
  ...both('an unknown finish reason is "other", with the word of the provider', [], async (context) => {
    const { response } = await respond(context, answer({ text: TEXT, finishReason: 'unknown' }));
    assert.equal(response.finishReason, 'other');
    assert.ok(response.rawFinishReason, 'Without rawFinishReason, the response counts as interrupted.');
  }),
  ...both('the ids of the response and of its model are returned', ['responseIds'], async (context) => {
    const reply = answer({ text: TEXT, responseId: 'response-7', modelId: 'model-of-may' });
    const { response } = await respond(context, reply);
    assert.deepEqual([response.responseId, response.modelId], ['response-7', 'model-of-may']);
  }),
  ...both('tokens of the cache and of reasoning are returned', ['usageDetails'], async (context) => {
    const details = { inputTokens: 100, outputTokens: 50, cacheReadTokens: 64, reasoningTokens: 32 };
    const { response } = await respond(context, answer({ text: TEXT, usage: details }));
    const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = response.usage;
    assert.deepEqual({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }, details);
  }),
  ...both('usage that the provider does not report is unknown', ['missingUsage'], async (context) => {
    const { response } = await respond(context, { type: 'answer', text: TEXT });
    assert.deepEqual([response.usage.inputTokens, response.usage.outputTokens], [undefined, undefined]);
  }),
];

/** Requirements on what a driver returns. */
export const responseCases: readonly UngroupedDriverCase[] = [...texts, ...calls, ...facts];
