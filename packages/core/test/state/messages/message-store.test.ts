import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { assistantMessage, MessageStore, userMessage } from '@holdfast/core';
import { expectDeeplyFrozen, storeOf } from '../../support/arbitraries.ts';
import { throughText } from '../../support/step-parts.ts';

describe('sections of messages', () => {
  const [a, b] = [userMessage('a'), assistantMessage('b')];
  test('are in the order of their first write', () => {
    const store = storeOf({ summary: [a], messages: [b] })
      .append('buffer', [a])
      .append('summary', [b]);
    expect(store.names).toEqual(['summary', 'messages', 'buffer']);
    expect(store.section('summary').toArray()).toEqual([a, b]);
    expect(store.withoutSection('messages').names).toEqual(['summary', 'buffer']);
    assert.deepStrictEqual(MessageStore.fromJSON(throughText(store)), store);
    expectDeeplyFrozen(store);
  });
  test('that do not exist are empty, and empty sections can exist', () => {
    expect(MessageStore.empty.section('__proto__').length).toBe(0);
    expect(MessageStore.empty.names).toEqual([]);
    const store = storeOf({ summary: [] });
    expect(store.names).toEqual(['summary']);
    assert.deepStrictEqual(MessageStore.fromJSON(throughText(store)), store);
  });
  test('with exactly these messages stay the same', () => {
    const store = MessageStore.from([a, b]);
    expect([
      store.withSection('messages', [a, b]),
      store.withSection('messages', store.messages),
      store.append('x', []),
    ]).toEqual([store, store, store]);
    expect(store.withSection('messages', [a, b])).toBe(store);
    expect(store.append('messages', [])).toBe(store);
    expect(store.withoutSection('x')).toBe(store);
    expect(store.withSection('messages', [b, a])).not.toBe(store);
    expect(store.withSection('messages', [a]).messages.toArray()).toEqual([a]);
    expect(store.withSection('messages', [a, b, a]).messages.toArray()).toEqual([a, b, a]);
    expect(store.withSection('messages', []).messages.length).toBe(0);
  });
  test('appending does not copy existing messages', () => {
    const store = MessageStore.from(Array.from({ length: 1_000 }, (_, index) => userMessage(String(index))));
    const after = store.append('messages', [a]);
    expect(after.messages.commonLength(store.messages)).toBe(1_000);
    expect(after.messages.since(store.messages)).toEqual([a]);
  });
});
