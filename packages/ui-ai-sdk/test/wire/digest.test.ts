import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { digestOf } from '../../src/wire/digest.ts';

const user = (text: string): UIMessage => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] });

test('two texts of a user have two digests, also when they are equally long', () => {
  expect(digestOf([user('Pay 5.')])).not.toBe(digestOf([user('Pay 6.')]));
});

test('equal messages have one digest', () => {
  expect(digestOf([user('Pay 5.')])).toBe(digestOf([Object.freeze(user('Pay 5.'))]));
});
