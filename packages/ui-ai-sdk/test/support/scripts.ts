import type { JsonValue } from '@holdfast/core';
import type { AssistantPart } from '@holdfast/core/driver';
import fc from 'fast-check';
import type { Script, UserAct, WrittenResponse } from './recorded-session.ts';

const some = fc.string({ minLength: 1, maxLength: 20 });
const tools = fc.constantFrom('add', 'fail', 'pay', 'ask', 'research', 'steer', 'unknown');
const input = fc.constantFrom({}, { sum: 1 }, { prompt: 'Look.', place: { x: [1, 2] } });

function constant(part: AssistantPart): fc.Arbitrary<readonly AssistantPart[]> {
  return fc.constant([part]);
}

function call(toolName: string, args: JsonValue): AssistantPart {
  return { type: 'tool-call', toolCallId: '', toolName, input: args };
}

/** Parts of a response of every type; a call of the provider comes with its result. */
const parts: fc.Arbitrary<readonly AssistantPart[]> = fc.oneof(
  { weight: 4, arbitrary: some.map((text): AssistantPart[] => [{ type: 'text', text }]) },
  { weight: 2, arbitrary: some.map((text): AssistantPart[] => [{ type: 'reasoning', text }]) },
  { weight: 6, arbitrary: fc.tuple(tools, input).map(([name, args]) => [call(name, args)]) },
  constant({ type: 'tool-call', toolCallId: '', toolName: 'add', input: '{"a', invalid: 'not JSON' }),
  constant({ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }),
  constant({
    type: 'reasoning-file',
    mediaType: 'image/png',
    data: { type: 'url', url: 'https://x.example/a' },
  }),
  constant({ type: 'source', source: { sourceType: 'url', id: 's1', url: 'https://x.example', title: 'X' } }),
  constant({
    type: 'source',
    source: { sourceType: 'document', id: 's2', mediaType: 'text/plain', title: 'Y' },
  }),
  constant({ type: 'custom', kind: 'openai.item', providerOptions: { openai: { id: 'i1' } } }),
  fc.constantFrom<readonly AssistantPart[]>(
    [
      { type: 'tool-call', toolCallId: '', toolName: 'web', input: { q: 'x' }, providerExecuted: true },
      { type: 'tool-result', toolCallId: '', toolName: 'web', output: { type: 'json', value: ['y'] } },
    ],
    [{ type: 'tool-call', toolCallId: '', toolName: 'web', input: {}, providerExecuted: true }],
  ),
);

const responses: fc.Arbitrary<WrittenResponse> = fc.record({
  content: fc.array(parts, { maxLength: 4 }).map((all) => all.flat()),
  pace: fc.constantFrom(0, 2, 5, 100),
  isFailed: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

const acts = fc.constantFrom<UserAct[]>('yes', 'yes', 'other', 'no', 'message', 'stop');

/** Sessions with parts of every type, with tools of every kind, and with all that a user can do. */
export const scripts: fc.Arbitrary<Script> = fc.record({
  responses: fc.array(responses, { minLength: 1, maxLength: 6, size: 'max' }),
  acts: fc.array(acts, { maxLength: 5, size: 'max' }),
});
