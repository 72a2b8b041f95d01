import type { InferenceDelta } from '@holdfast/core/driver';
import { expect, test } from 'vitest';
import { PartialResponseWriter } from '../../src/channel/partial-response-writer.ts';

const FIRST = { stepId: 's', attempt: 1 };
const SECOND = { stepId: 's', attempt: 2 };

function text(id: string, piece: string): InferenceDelta {
  return { type: 'text', id, text: piece };
}

function writerOf(...deltas: readonly InferenceDelta[]): PartialResponseWriter {
  const writer = new PartialResponseWriter();
  for (const delta of deltas) writer.add(FIRST, delta);
  return writer;
}

test('the deltas of a part are joined, in the order in which the parts began', () => {
  const call = { type: 'tool-input', id: 'a', toolName: 'search' } as const;
  const writer = writerOf(text('a', 'one '), { ...call, text: '{' }, text('a', 'two'), {
    ...call,
    text: '}',
  });
  expect(writer.write(FIRST)).toEqual([text('a', 'one two'), { ...call, text: '{}' }]);
});

test('write returns only what came after the last call', () => {
  const writer = writerOf(text('a', 'one'), text('b', 'two'));
  writer.write(FIRST);
  expect(writer.write(FIRST)).toEqual([]);
  writer.add(FIRST, text('b', ' three'));
  expect(writer.write(FIRST)).toEqual([text('b', ' three')]);
});

test('a new series repeats all text, and then continues', () => {
  const writer = writerOf(text('a', 'one'));
  writer.write(FIRST);
  writer.add(FIRST, text('a', ' two'));
  writer.write(FIRST);
  writer.add(FIRST, text('a', ' three'));
  writer.restart();
  expect(writer.write(FIRST)).toEqual([text('a', 'one two three')]);
  writer.restart();
  expect(writer.write(FIRST)).toEqual([text('a', 'one two three')]);
  expect(writer.write(FIRST)).toEqual([]);
});

test('a part is announced before its first text', () => {
  expect(writerOf(text('a', '')).write(FIRST)).toEqual([text('a', '')]);
});

test('a delta of another response begins a new one', () => {
  const writer = writerOf(text('a', 'one'));
  writer.write(FIRST);
  writer.add(SECOND, text('a', 'two'));
  expect(writer.write(SECOND)).toEqual([text('a', 'two')]);
  writer.restart();
  expect(writer.write(SECOND)).toEqual([text('a', 'two')]);
});

test('a response that is no longer expected is forgotten', () => {
  const writer = writerOf(text('a', 'one'));
  expect(writer.write(SECOND)).toEqual([]);
  expect(writer.write(FIRST)).toEqual([]);
  const cleared = writerOf(text('a', 'one'));
  cleared.clear();
  expect(cleared.write(FIRST)).toEqual([]);
  expect(writerOf(text('a', 'one')).write(undefined)).toEqual([]);
});
