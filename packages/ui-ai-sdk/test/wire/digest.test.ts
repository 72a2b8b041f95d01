import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { contentDigestOf, digestOf } from '../../src/wire/digest.ts';

const user = (text: string): UIMessage => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] });

test('two texts of a user have two digests, also when they are equally long', () => {
  expect(digestOf([user('Pay 5.')])).not.toBe(digestOf([user('Pay 6.')]));
});

test('equal messages have one digest', () => {
  expect(digestOf([user('Pay 5.')])).toBe(digestOf([Object.freeze(user('Pay 5.'))]));
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
