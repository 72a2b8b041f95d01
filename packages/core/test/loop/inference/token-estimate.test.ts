import { assistantMessage, type Message } from '@holdfast/core';
import { List } from '@holdfast/core/driver';
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { tokensOf, tokensOfText } from '../../../src/loop/inference/token-estimate.ts';
import { TEXTS } from '../../support/texts.ts';

describe('the estimate of a text', () => {
  test.each(Object.entries(TEXTS))('lies between 0.9 and 2.1 times the larger count: %s', (_, text) => {
    const counted = Math.max(o200k(text).length, cl100k(text).length);
    const ratio = tokensOfText(text) / counted;
    expect(ratio).toBeGreaterThanOrEqual(0.9);
    expect(ratio).toBeLessThanOrEqual(2.1);
  });
});

describe('the estimate of messages', () => {
  test('counts a file in a result as 1,000 tokens, whatever its length', () => {
    const data = { type: 'data', data: 'A'.repeat(100_000) } as const;
    const output = { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data }] } as const;
    const result = { type: 'tool-result', toolCallId: '1', toolName: 'look', output } as const;
    const message = { ...assistantMessage('-'), role: 'tool', content: [result] } as Message;
    expect(tokensOf([message])).toBe(1_000);
  });

  test('processes only the added messages of a list that has grown', () => {
    let read = 0;
    const counting = (text: string): Message => {
      const part = { type: 'text', text } as const;
      const seen = { ...part, toJSON: () => (read++, part) };
      return { ...assistantMessage(text), content: [seen] };
    };
    const messages = Array.from({ length: 2_000 }, (_, index) => counting(`Message ${index}.`));
    let list = List.from(messages);
    const before = tokensOf(list);
    expect(read).toBe(2_000);
    for (let index = 0; index < 10; index++) {
      const at = list;
      list = list.append(counting('More.'));
      expect(tokensOf(list)).toBeGreaterThan(tokensOf(at));
    }
    expect(read).toBe(2_010);
    expect(tokensOf(list) - before).toBeCloseTo(tokensOf(list.slice(2_000)), 6);
  });
});
