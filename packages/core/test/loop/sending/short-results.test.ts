import { assistantMessage, textOf, userMessage, type Message } from '@holdfast/core';
import { List, type ToolOutput, type ToolResultPart } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import { tokensOf } from '../../../src/loop/inference/token-estimate.ts';
import { withShortResults } from '../../../src/loop/sending/short-results.ts';

const text = (length: number): ToolOutput => ({ type: 'text', value: 'word '.repeat(length / 5) });

/** A call with its result. */
function exchange(id: string, output: ToolOutput): readonly Message[] {
  const call = { type: 'tool-call', toolCallId: id, toolName: 'look', input: {} } as const;
  const result = { type: 'tool-result', toolCallId: id, toolName: 'look', output } as const;
  const content = Object.freeze([Object.freeze(result)]);
  const results = Object.freeze({ ...assistantMessage('-'), role: 'tool', content }) as Message;
  return [assistantMessage([call]), results];
}

function chat(...lengths: readonly number[]): List<Message> {
  const exchanges = lengths.flatMap((length, at) => exchange(`${at}`, text(length)));
  return List.from([userMessage('Go.'), ...exchanges]);
}

function resultsIn(messages: Iterable<Message>): readonly ToolResultPart[] {
  return [...messages].flatMap((message) => (message.role === 'tool' ? message.content : []));
}

/** The length of each result that is sent whole, or `short`. */
function sentIn(messages: Iterable<Message>): readonly (number | 'short')[] {
  return resultsIn(messages).map(({ output }) => {
    const value = output.type === 'text' ? output.value : '';
    return value.includes('[Shortened: the first 200 of ') ? 'short' : value.length;
  });
}

const short = (count: number): readonly 'short'[] => Array.from({ length: count }, () => 'short');

describe('results of a conversation that is too long', () => {
  test('stay the same list while it is short enough', () => {
    const messages = chat(4_000, 4_000);
    expect(withShortResults(messages, 10_000)).toBe(messages);
  });

  test('are shortened, the largest first, of equal ones the oldest, and the newest last', () => {
    const mixed = chat(2_000, 8_000, 2_000, 2_000, 100);
    expect(sentIn(withShortResults(mixed, tokensOf(mixed) - 1))).toEqual([2_000, 'short', 2_000, 2_000, 100]);
    const equal = chat(2_000, 2_000, 2_000, 2_000, 100);
    expect(sentIn(withShortResults(equal, tokensOf(equal) - 1))).toEqual([...short(3), 2_000, 100]);
    expect(sentIn(withShortResults(chat(2_000, 2_000, 8_000), 3_000))).toEqual([...short(2), 8_000]);
  });

  test('of the newest exchange are cut to what fits, the larger ones to the same length', () => {
    const parts = [20_000, 500, 10_000].map((length, at) => exchange(`${at}`, text(length)));
    const calls = assistantMessage(parts.flatMap(([message]) => message?.content ?? []) as never);
    const results = parts.flatMap(([, message]) => message ?? []);
    const messages = List.from([userMessage('Go.'), calls, ...results]);
    const sent = withShortResults(messages, 2_000);
    expect(tokensOf(sent)).toBeLessThanOrEqual(2_000);
    expect(tokensOf(sent)).toBeGreaterThan(1_800);
    const values = resultsIn(sent).map(({ output }) => String(output.type === 'text' && output.value));
    const found = values.map((value) =>
      /^((?:word )+\w*)\n\[Shortened: the first (\d+) of (\d+) ch/.exec(value),
    );
    const lengths = found.map((match) => match && [match[1]?.length, Number(match[2]), match[3]]);
    const kept = lengths[0]?.[0] as number;
    expect(lengths).toEqual([[kept, kept, '20000'], null, [kept, kept, '10000']]);
    expect(values[1]).toBe('word '.repeat(100));
    expect(sentIn(withShortResults(messages, 10))).toEqual(short(3));
  });

  test('and texts that exceed the number alone are cut to half of it, and stay so while they fit', () => {
    const question = userMessage('word '.repeat(10_000));
    const maxTokens = 3_000;
    let messages: List<Message> = List.from([userMessage('Hello.'), assistantMessage('Hi.'), question]);
    const first = withShortResults(messages, maxTokens);
    expect(tokensOf(first)).toBeLessThanOrEqual(maxTokens);
    expect(textOf(first.at(2) as Message)).toMatch(/^word .* of 50000 characters are shown/s);
    const kept = (list: List<Message>): number => textOf(list.at(2) as Message).length;
    expect(kept(first)).toBeGreaterThan(4_000);
    messages = messages.concat(exchange('1', text(3_500)));
    const next = withShortResults(messages, maxTokens);
    expect(next.at(2)).toBe(first.at(2));
    const last = withShortResults(messages.concat(exchange('2', text(4_000))), maxTokens);
    expect([last.at(2), sentIn(last)]).toEqual([first.at(2), ['short', 4_000]]);
    const other = withShortResults(messages.append(question), maxTokens);
    expect([kept(other) < 400, textOf(other.last as Message).length > 4_000]).toEqual([true, true]);
  });

  test('keep their beginning, their kind and their files by name', () => {
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } } as const;
    const outputs: readonly ToolOutput[] = [
      { type: 'json', value: { rows: Array.from({ length: 500 }, (_, row) => row) } },
      { type: 'error-text', value: 'broken '.repeat(200) },
      { type: 'content', value: [{ type: 'text', text: 'A cat.' }, file] },
      { type: 'content', value: [{ type: 'text', text: 'A dog.' }] },
    ];
    const messages = List.from(outputs.flatMap((output, at) => exchange(`${at}`, output)));
    const sent = withShortResults(messages.append(userMessage('And?')), 10);
    expect(resultsIn(sent).map(({ output }) => output)).toMatchObject([
      {
        type: 'text',
        value: expect.stringMatching(/^\{"rows":\[0,1,.*\n\[Shortened: the first 200 of \d+ characters/),
      },
      { type: 'error-text', value: expect.stringMatching(/^broken .*\n\[Shortened/) },
      { type: 'text', value: 'A cat.\n[file]' },
      { type: 'content' },
    ]);
  });

  test('are the same in any process and at any step, and rarely other than in the step before', () => {
    const messages = chat(...Array.from({ length: 60 }, (_, at) => 1_000 + ((at * 37) % 900)));
    const maxTokens = Math.floor(tokensOf(messages) / 3);
    const sent = sameInAnyProcess(messages, maxTokens);
    for (const list of sent) expect(tokensOf(list)).toBeLessThan(maxTokens + 700); // the newest result is whole
    const changes = sent.filter((list, at) => list.commonLength(sent[at - 1] ?? list) < at).length;
    expect(changes).toBeGreaterThan(0);
    expect(changes).toBeLessThan(12);
    sameInAnyProcess(chat(500, 90_000, 500, 2_000, 60_000, 60_000, 300), 3_000);
  });

  /**
   * Shortens the first message, the first two, and so on: of one list that grows, and of new lists as in another process. Expects
   * the same of both, and returns it.
   */
  function sameInAnyProcess(messages: List<Message>, maxTokens: number): readonly List<Message>[] {
    const lists = messages.toArray().map((_, at) => List.from(messages.slice(0, at + 1)));
    let grown = List.empty<Message>();
    const sent = messages
      .toArray()
      .map((message) => withShortResults((grown = grown.append(message)), maxTokens));
    expect(sent.map((list) => list.toArray())).toEqual(
      lists.map((list) => withShortResults(list, maxTokens).toArray()),
    );
    for (const list of sent) expect(tokensOf(list)).toBeLessThanOrEqual(maxTokens * 1.3);
    return sent;
  }

  test('cost a step what it adds, however long the conversation is', () => {
    let read = 0;
    const counted = (message: Message): Message =>
      ({
        ...message,
        get content() {
          read++;
          return message.content;
        },
      }) as Message;
    let messages: List<Message> = List.from(
      chat(...Array.from({ length: 1_000 }, () => 900))
        .toArray()
        .map(counted),
    );
    withShortResults(messages, 50_000);
    read = 0;
    for (let at = 0; at < 10; at++) {
      messages = messages.concat(exchange(`x${at}`, text(10)).map(counted));
      withShortResults(messages, 50_000);
    }
    expect(read).toBeLessThan(200);
  });
});
