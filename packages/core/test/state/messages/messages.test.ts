import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { assistantMessage, MessageStore, systemMessage, textOf, userMessage } from '@holdfast/core';
import { reasoningOf, toolMessage } from '@holdfast/core/driver';
import { START as T } from '../../support/arbitraries.ts';
import { addCall, throughText } from '../../support/step-parts.ts';

describe('messages', () => {
  test('have text and reasoning, as a whole or by part', () => {
    const message = assistantMessage([
      { type: 'reasoning', text: 'h' },
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'm' },
      { type: 'text', text: 'b' },
    ]);
    expect([textOf(message), textOf(message.content)]).toEqual(['ab', 'ab']);
    expect([reasoningOf(message), reasoningOf(message.content)]).toEqual(['hm', 'hm']);
  });
  test('of the system have text only and are restored from JSON', () => {
    const message = systemMessage('Be brief.', { id: 'm', createdAt: T });
    expect(message).toEqual({
      id: 'm',
      role: 'system',
      content: [{ type: 'text', text: 'Be brief.' }],
      createdAt: T,
    });
    const store = MessageStore.from([message]);
    assert.deepStrictEqual(MessageStore.fromJSON(throughText(store)), store);
  });
  const bad: readonly (readonly [name: string, make: () => unknown])[] = [
    ['a tool call in a user message', () => userMessage([addCall as never])],
    ['a file without data', () => userMessage([{ type: 'file', mediaType: 'image/png' } as never])],
    [
      'file ids that are not strings',
      () =>
        userMessage([
          { type: 'file', mediaType: 'a/b', data: { type: 'reference', reference: { a: 1 as never } } },
        ]),
    ],
    ['text in a tool message', () => toolMessage([{ type: 'text', text: 'a' } as never])],
    ['an unknown member', () => userMessage([{ type: 'text', text: 'a', cache: true } as never])],
    [
      'a member of another type of data',
      () =>
        userMessage([{ type: 'file', mediaType: 'a/b', data: { type: 'url', url: 'x', data: '' } as never }]),
    ],
  ];
  test.for(bad)('refuse %s', ([, make]) => {
    expect(make).toThrow(
      expect.objectContaining({
        code: 'CONTEXT_INVALID',
        message: expect.stringContaining('$[0]') as string,
      }),
    );
  });
  test('refuse bytes', () => {
    const data = { type: 'data', data: new Uint8Array(1) as never } as const;
    expect(() => userMessage([{ type: 'file', mediaType: 'image/png', data }])).toThrow(
      expect.objectContaining({
        code: 'NOT_JSON',
        message: 'JSON cannot hold the Uint8Array in "data". Convert it to base64.',
      }),
    );
  });

  test('preserve their id and time, and refuse an invalid id', () => {
    expect(userMessage('a', { id: 'msg-1', createdAt: T })).toMatchObject({ id: 'msg-1', createdAt: T });
    expect(() => userMessage('a', { id: '' })).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
  });
});
