import { chunksBetween } from '@holdfast/ui-ai-sdk';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, test } from 'vitest';
import { asRead, read } from '../support/page.ts';

type UIPart = UIMessage['parts'][number];

const step: UIPart = { type: 'step-start' };
const open = (text: string): UIPart => ({ type: 'text', text, state: 'streaming' });
const done = (text: string): UIPart => ({ type: 'text', text, state: 'done' });
const request = { id: 's:c' };
const provider = { openai: { id: 'i' } };

const call = (state: object, name = 'tool-add'): UIPart =>
  ({ type: name, toolCallId: 'c', ...state }) as UIPart;
const input = { input: { a: 1 } };
const streaming = call({ state: 'input-streaming', rawInput: '{"a"' });
const available = call({ state: 'input-available', ...input });
const requested = call({ state: 'approval-requested', ...input, approval: request });
const approved = call({ state: 'approval-responded', ...input, approval: { ...request, approved: true } });
const output = call({ state: 'output-available', ...input, output: 4 });
const failed = call({ state: 'output-error', ...input, errorText: 'no' });
const denied = call({
  state: 'output-denied',
  ...input,
  approval: { ...request, approved: false, reason: 'No.' },
});

function message(...parts: UIPart[]): UIMessage {
  return { id: 'e1', role: 'assistant', parts };
}

function nameOf(chunk: UIMessageChunk): string {
  if (chunk.type === 'text-delta') return `text-delta ${chunk.delta}`;
  return chunk.type === 'tool-input-delta' ? `tool-input-delta ${chunk.inputTextDelta}` : chunk.type;
}

/** Returns the names of the chunks, after the SDK has read them into the message. */
async function chunkNames(
  shown: UIMessage | undefined,
  wanted: UIMessage,
  isNewStream = false,
): Promise<unknown> {
  const difference = chunksBetween(shown, wanted, { isNewStream });
  if (difference.type === 'restart') return 'restart';
  // The texts that a stream has open are those that it has begun.
  const before = isNewStream || !shown ? [] : chunksOf(undefined, shown);
  const after = await read(isNewStream ? shown : undefined, [...before, ...difference.chunks]);
  expect(asRead(after)).toEqual(asRead(difference.shown));
  return difference.chunks.map(nameOf);
}

function chunksOf(shown: UIMessage | undefined, wanted: UIMessage): readonly UIMessageChunk[] {
  const difference = chunksBetween(shown, wanted);
  return difference.type === 'chunks' ? difference.chunks : [];
}

describe('a message that the page does not show', () => {
  test('starts when it has a part', async () => {
    expect(await chunkNames(undefined, message())).toEqual([]);
    expect(await chunkNames(undefined, message(step, open('Hi')))).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta Hi',
    ]);
  });

  test('has the id and the metadata in its start', () => {
    const [start] = chunksOf(undefined, { ...message(step, done('Hi')), metadata: { cost: 1 } });
    expect(start).toEqual({ type: 'start', messageId: 'e1', messageMetadata: { cost: 1 } });
  });

  test('runs no tool of the page for a call that has its result', async () => {
    expect(await chunkNames(undefined, message(step, output))).toEqual([
      'start',
      'start-step',
      'tool-input-start',
      'tool-input-delta {"a":1}',
      'tool-output-available',
    ]);
    expect(await chunkNames(undefined, message(step, failed))).toEqual([
      'start',
      'start-step',
      'tool-input-error',
    ]);
  });
});

describe('the last step', () => {
  test.each<[string, readonly UIPart[], readonly UIPart[], readonly string[]]>([
    ['nothing new', [step, open('Hi')], [step, open('Hi')], []],
    ['a longer text', [step, open('Hi')], [step, open('Hi there')], ['text-delta  there']],
    ['the end of a text', [step, open('Hi')], [step, done('Hi!')], ['text-delta !', 'text-end']],
    ['another text', [step, open('Hi')], [step, open('Ho')], ['reset-step', 'text-start', 'text-delta Ho']],
    [
      'a text without the data of its provider',
      [step, { ...open('Hi'), providerMetadata: provider } as UIPart],
      [step, done('Hi')],
      ['reset-step', 'text-start', 'text-delta Hi', 'text-end'],
    ],
    [
      'a text with the data of its provider',
      [step, open('Hi')],
      [step, { ...done('Hi'), providerMetadata: provider } as UIPart],
      ['text-end'],
    ],
    [
      'a text that has ended',
      [step, done('Hi')],
      [step, open('Hi')],
      ['reset-step', 'text-start', 'text-delta Hi'],
    ],
    [
      'a shorter step',
      [step, done('Hi'), done('Ho')],
      [step, done('Hi')],
      ['reset-step', 'text-start', 'text-delta Hi', 'text-end'],
    ],
    [
      'another step',
      [step, done('Hi')],
      [step, done('Hi'), step, open('Ho')],
      ['start-step', 'text-start', 'text-delta Ho'],
    ],
    ['no step any more', [step, done('Hi'), step, open('Ho')], [step, done('Hi')], ['reset-step']],
    [
      'the same step again',
      [step, done('Hi'), step],
      [step, done('Hi'), step, open('Ha')],
      ['text-start', 'text-delta Ha'],
    ],
    [
      'more input',
      [step, streaming],
      [step, call({ state: 'input-streaming', rawInput: '{"a":1' })],
      ['tool-input-delta :1'],
    ],
    ['the whole input', [step, streaming], [step, available], ['tool-input-available']],
    ['a request', [step, available], [step, requested], ['tool-approval-request']],
    ['a decision', [step, requested], [step, approved], ['tool-approval-response']],
    [
      'a request and its decision',
      [step, available],
      [step, approved],
      ['tool-approval-request', 'tool-approval-response'],
    ],
    ['a denial', [step, requested], [step, denied], ['tool-approval-response', 'tool-output-denied']],
    ['an output', [step, available], [step, output], ['tool-output-available']],
    ['an error', [step, available], [step, failed], ['tool-output-error']],
    ['an output in place of an error', [step, failed], [step, output], ['tool-output-available']],
    [
      'an output without the approval',
      [step, approved],
      [step, output],
      ['reset-step', 'tool-input-start', 'tool-input-delta {"a":1}', 'tool-output-available'],
    ],
    [
      'an output before the whole input',
      [step, streaming],
      [step, output],
      ['reset-step', 'tool-input-start', 'tool-input-delta {"a":1}', 'tool-output-available'],
    ],
    ['a call without its output', [step, output], [step, available], ['reset-step', 'tool-input-available']],
    [
      'an error in place of a denial',
      [step, denied],
      [step, { ...denied, state: 'output-error', errorText: 'no' } as UIPart],
      [
        'reset-step',
        'tool-input-available',
        'tool-approval-request',
        'tool-approval-response',
        'tool-output-error',
      ],
    ],
    [
      'another input',
      [step, available],
      [step, call({ state: 'input-available', input: { a: 2 } })],
      ['reset-step', 'tool-input-available'],
    ],
    [
      'another tool',
      [step, call({ toolName: 'add', state: 'input-available', ...input }, 'dynamic-tool')],
      [step, call({ toolName: 'sum', state: 'input-available', ...input }, 'dynamic-tool')],
      ['reset-step', 'tool-input-available'],
    ],
    [
      'no data of the provider',
      [step, { ...output, resultProviderMetadata: provider } as UIPart],
      [step, output],
      ['reset-step', 'tool-input-start', 'tool-input-delta {"a":1}', 'tool-output-available'],
    ],
    [
      'a message on the way',
      [step, done('Hi')],
      [step, done('Hi'), { type: 'steering-message', id: 'u2', parts: [] }],
      ['steering-message'],
    ],
    [
      'new data',
      [step, { type: 'data-map', id: 'm', data: 1 }],
      [step, { type: 'data-map', id: 'm', data: 2 }],
      ['reset-step', 'data-map'],
    ],
  ])('%s', async (_, shown, wanted, expected) => {
    expect(await chunkNames(message(...shown), message(...wanted))).toEqual(expected);
  });

  test('is taken back except for its start, which the next step uses', () => {
    const difference = chunksBetween(message(step, done('Hi'), step, open('Ho')), message(step, done('Hi')));
    expect(difference).toMatchObject({ shown: { parts: [step, done('Hi'), step] } });
  });

  test('is repeated in a new stream if it has an open text', async () => {
    const shown = message(step, open('Hi'));
    const again = ['reset-step', 'text-start', 'text-delta Hi'];
    expect(await chunkNames(shown, shown, true)).toEqual(again);
    expect(await chunkNames(message(step, done('Hi')), message(step, done('Hi')), true)).toEqual([]);
    expect(await chunkNames(message(step, streaming), message(step, available), true)).toEqual([
      'tool-input-available',
    ]);
  });

  test('stays the same object when all parts are shown', () => {
    const wanted = message(step, done('Hi'));
    expect(chunksBetween(message(step, open('Hi')), wanted)).toHaveProperty('shown', wanted);
  });
});

describe('earlier steps', () => {
  const later: UIPart[] = [step, done('Ho')];

  test('have results that come late', async () => {
    const [before, after] = [message(step, available, ...later), message(step, output, ...later)];
    expect(await chunkNames(before, after)).toEqual(['tool-output-available']);
  });

  test.each<[string, UIMessage, UIMessage]>([
    ['another text', message(step, done('Hi'), ...later), message(step, done('Ha'), ...later)],
    ['a longer text', message(step, open('Hi'), ...later), message(step, open('Hi there'), ...later)],
    ['more input', message(step, streaming, ...later), message(step, available, ...later)],
    [
      'a result of a call whose id the last step repeats',
      message(step, available, step, available),
      message(step, output, step, available),
    ],
    [
      'a request that another call has',
      message(step, denied, step, available),
      message(step, denied, step, requested),
    ],
    ['two steps taken back', message(step, done('Hi'), step, done('Ho'), step), message(step, done('Hi'))],
    [
      'a message on the way before the last step',
      message(step, done('Hi'), step),
      message(step, done('Hi'), { type: 'steering-message', id: 'u2', parts: [] }, step, done('Ho')),
    ],
    ['another message', message(step, done('Hi')), { ...message(step, done('Hi')), id: 'e2' }],
  ])('%s: restart', (_, shown, wanted) => {
    expect(chunksBetween(shown, wanted)).toEqual({ type: 'restart' });
  });
});

describe('calls that chunks cannot name', () => {
  test('two calls of one id in one step: restart', async () => {
    expect(await chunkNames(undefined, message(step, available, available))).toBe('restart');
    expect(await chunkNames(undefined, message(step, available, step, available))).not.toBe('restart');
  });
});

describe('metadata', () => {
  const shownWith = (metadata: unknown): UIMessage => ({ ...message(step, done('Hi')), metadata });

  test.each<[unknown, unknown]>([
    [undefined, { cost: 1 }],
    [{ cost: null }, { cost: 1 }],
    [{ cost: 1 }, { cost: null }],
    [{ usage: { in: 1 } }, { usage: { in: 2, out: 1 } }],
    [{ list: [1, 2] }, { list: [1] }],
  ])('%j can become %j', async (before, after) => {
    expect(await chunkNames(shownWith(before), shownWith(after))).toEqual(['message-metadata']);
  });

  test.each<[unknown, unknown]>([
    [{ cost: 1 }, undefined],
    [{ cost: 1 }, {}],
    [{ usage: { in: 1, out: 1 } }, { usage: { in: 1 } }],
    [{}, { constructor: 1 }],
    [{ a: 1 }, 'text'],
  ])('%j cannot become %j: restart', (before, after) => {
    expect(chunksBetween(shownWith(before), shownWith(after))).toEqual({ type: 'restart' });
  });
});

test('refuses an unknown option', () => {
  expect(() => chunksBetween(undefined, message(), { isNew: true } as object)).toThrow('isNew');
});
