import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { contentDigestOf, digestOf } from '../../src/wire/digest.ts';

const user = (text: string): UIMessage => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] });

test('two texts of a user have two digests, also when they are equally long', () => {
  expect(digestOf([user('Pay 5.')])).not.toBe(digestOf([user('Pay 6.')]));
});

test('equal messages have one digest', () => {
  expect(digestOf([user('Pay 5.')])).toBe(digestOf([Object.freeze(user('Pay 5.'))]));
});

type ValueOf<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/** A message of a conversation: some change, some have a message of the user as a part. */
const messages = fc.record({
  id: fc.constantFrom('a', 'b', 'c'),
  role: fc.constantFrom('user' as const, 'assistant' as const),
  text: fc.string({ maxLength: 3 }),
  steered: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined, freq: 8 }),
  isFrozen: fc.boolean(),
});

function messageOf({ id, role, text, steered, isFrozen }: ValueOf<typeof messages>): UIMessage {
  const steering = { type: 'steering-message', id: steered ?? '', parts: [] } as const;
  const parts: unknown[] = [{ type: 'text', text }, ...(steered === undefined ? [] : [steering])];
  const message = { id, role, parts: parts as UIMessage['parts'] };
  return isFrozen ? Object.freeze(message) : message;
}

test('a conversation that grows, shrinks or changes has the digest of a copy of it', () => {
  const change = fc.record({
    keep: fc.nat({ max: 6 }),
    added: fc.array(messages, { maxLength: 4 }),
    text: fc.string({ maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 2, maxLength: 6 }), (changes) => {
      let conversation: readonly UIMessage[] = [];
      for (const { keep, added, text } of changes) {
        conversation = [...conversation.slice(0, keep), ...added.map(messageOf)];
        for (const message of conversation)
          if (!Object.isFrozen(message)) message.parts = [{ type: 'text', text }];
        expect(digestOf(conversation)).toBe(digestOf(structuredClone(conversation)));
      }
    }),
    cases(200),
  );
});

test('the digest of the content does not depend on the order of members, and depends on each value', () => {
  const call = (output: object): UIMessage => {
    const part = { type: 'tool-pay', toolCallId: 'a', state: 'output-available', input: {}, output } as const;
    return { id: 'x', role: 'assistant', parts: [part] };
  };
  expect(contentDigestOf(call({ euros: 5, to: 'Ann' }))).toBe(contentDigestOf(call({ to: 'Ann', euros: 5 })));
  expect(contentDigestOf(call({ euros: 5 }))).not.toBe(contentDigestOf(call({ euros: 6 })));
  expect(contentDigestOf(call({ euros: 5 }))).not.toBe(contentDigestOf(call({ euros: '5' })));
});
