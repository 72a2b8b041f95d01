import {
  AgentState,
  allSections,
  conversationWithCurrentToolTrace,
  messageCompiler,
  selectedSections,
  textOf,
  userMessage,
  type Message,
  type Messages,
  type MessageTransform,
} from '@holdfast/core';
import { List } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import { storeOf } from '../../support/arbitraries.ts';
import { call, does, expectSound, observe, scriptedLoop, told } from '../../support/builders.ts';
import { line, written } from '../../support/written.ts';

const compile = conversationWithCurrentToolTrace();
const tools = [does('a'), does('b')];

describe('sections', () => {
  const store = storeOf({
    summary: written('s'),
    messages: written('u a:1 t:1 a u'),
    buffer: written('u a'),
  });
  const state = told().withMessageStore(store);

  test('are all shown, in the order in which they were written', () => {
    expect(line(allSections()(state))).toBe('s u a:1 t:1 a u u a');
    expect(line(allSections()(AgentState.empty()))).toBe('');
  });

  test.each([
    [['messages'], 'u a:1 t:1 a u'],
    [['buffer', 'summary'], 'u a s'],
    [['summary', 'none', 'messages'], 's u a:1 t:1 a u'],
    [['summary', 'buffer', 'summary'], 's u a'],
    [['none'], ''],
    [[], ''],
  ])('are shown by their names: %j', (names, compiled) => {
    expect(line(selectedSections(names)(state))).toBe(compiled);
  });

  test('are the same list when there is only one', () => {
    expect(selectedSections(['messages'])(state)).toBe(state.messages);
    const plain = told();
    expect(allSections()(plain)).toBe(plain.messages);
  });

  test('may change during an execution', async () => {
    const compiler = selectedSections(['summary', 'messages', 'buffer']);
    const { driver } = await observe({
      state,
      compiler,
      tools,
      script: [call('a'), call('a'), call('a'), call('a'), 'Done.'],
      hooks: [
        {
          beforeStep: (now) => {
            const { store: kept } = now;
            if (now.stepCount === 1) return now.withMessageStore(kept.append('buffer', written('s')));
            if (now.stepCount === 2) return now.withMessageStore(kept.withSection('summary', written('s s')));
            if (now.stepCount === 3) return now.withMessageStore(kept.withoutSection('buffer'));
            return now.stepCount === 4
              ? now.withMessageStore(kept.append('buffer', written('a')))
              : undefined;
          },
        },
      ],
    });
    const [one, two, three] = [1, 2, 3].map((step) => ` a:call_${step}_1 t:call_${step}_1`);
    expect(driver.requests.map(({ messages }) => line(messages))).toEqual([
      's u a:1 t:1 a u u a',
      `s u a:1 t:1 a u${one} u a s`,
      `s s u a:1 t:1 a u${one}${two} u a s`,
      `s s u a:1 t:1 a u${one}${two}${three}`,
      `s s u a:1 t:1 a u${one}${two}${three} a:call_4_1 t:call_4_1 a`,
    ]);
  });

  test('may be created while nothing else changes', () => {
    const compiler = selectedSections(['summary', 'buffer', 'later']);
    const before = compiler(state);
    const later = state.withMessageStore(store.append('later', written('u')));
    expect(line(compiler(later, before))).toBe('s u a u');
    expect(line(compiler(state, compiler(later, before)))).toBe('s u a');
  });

  test.each([['messages'], [undefined], [[1]]])('must be named by an array of strings: %j', (names) => {
    expect(() => selectedSections(names as never)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'ARGUMENT_INVALID' }),
    );
  });
});

test('an execution that is resumed with the history of a later one shows its own traces', async () => {
  const first = await scriptedLoop([call('a'), 'One.'], { tools }).run(told());
  const later = first.forNextExecution().withUserMessage('More').withExecutionStarted();
  expect(line(compile(later))).toBe('u a u');
  const again = first.withMessageStore(later.store);
  expect(line(compile(again, List.empty()))).toBe('u a:call_1_1 t:call_1_1 a u');
});

describe('a custom compiler', () => {
  const last = (count: number) => (messages: Messages) => messages.slice(-count);
  const state = told().withMessages(written('u a:r,1 t:1 a u'));

  test('selects messages and transforms them in order', () => {
    const shout: MessageTransform = (messages, { systemPrompt }) => [
      ...messages,
      userMessage(systemPrompt ?? ''),
    ];
    const compiler = messageCompiler(compile, last(2), shout, last(2));
    const compiled = compiler(state.withSystemPrompt('Now!'));
    expect(line(compiled)).toBe('u u');
    expect(textOf(compiled.at(1) ?? [])).toBe('Now!');
    expect(compiled.at(0)).toBe(state.messages.at(-1));
  });

  test.each([
    ['a window', last(3), 'a u'],
    [
      'without results',
      (messages: Messages) => [...messages].filter(({ role }) => role !== 'tool'),
      'u a:r,1 t:1! a u',
    ],
    [
      'without calls',
      (messages: Messages) =>
        [...messages].map((message) =>
          message.role === 'assistant'
            ? { ...message, content: message.content.filter(({ type }) => type !== 'tool-call') }
            : message,
        ),
      'u a u',
    ],
    ['no messages', () => [], ''],
    ['twice', (messages: Messages) => [...messages, ...messages], 'u a:r,1 t:1 a u u u'],
  ])('is repaired: %s', (_, transform, compiled) => {
    expect(line(messageCompiler(compile, transform)(state))).toBe(compiled);
    expect(line(messageCompiler((now) => transform(now.messages))(state))).toBe(compiled);
  });

  test('is repaired by the loop too', async () => {
    const { driver, state: end } = await observe({
      state,
      script: [call('a'), 'Done.'],
      tools,
      compiler: ({ messages }) => [...messages].filter(({ role }) => role !== 'tool'),
    });
    expect(end.status).toBe('completed');
    expect(driver.requests.map(({ messages }) => line(messages))).toEqual([
      'u a:1 t:1! a u', // reasoning of an earlier execution is not sent
      'u a:1 t:1! a u a:call_1_1 t:call_1_1!',
    ]);
  });

  test('may return new messages, which are frozen', async () => {
    const note = { ...userMessage('first'), content: [{ type: 'text' as const, text: 'first' }] };
    const shallow = Object.freeze({ ...note, content: [...note.content] });
    const { driver, state: end } = await observe({
      state,
      script: [call('a'), call('a'), 'Done.'],
      tools,
      compiler: ({ messages }) => [note, shallow, ...messages],
      hooks: [
        {
          afterStep: ({ stepCount }) =>
            void (stepCount === 1 && (note.content[0] = { type: 'text', text: 'later' })),
        },
      ],
    });
    const shown = driver.requests.map(({ messages }) => messages.slice(0, 2));
    expect(shown.map((messages) => messages.map((message) => textOf(message)))).toEqual([
      ['first', 'first'],
      ['first', 'first'],
      ['first', 'first'],
    ]);
    for (const messages of shown) for (const message of messages) expect(message).toSatisfy(Object.isFrozen);
    expect(shown[2]?.[1]).toBe(shown[0]?.[1]);
    expectSound(end);
  });

  test.each<[string, unknown, string, object]>([
    ['null', null, 'CONTEXT_INVALID', { path: '$' }],
    [
      'a message of another library',
      { role: 'user', content: 'hi' },
      'CONTEXT_INVALID',
      { path: '$.content' },
    ],
    [
      'an invalid part',
      { ...userMessage('u'), content: [{ type: 'text' }] },
      'CONTEXT_INVALID',
      { path: '$.content[0].text' },
    ],
    ['an unknown role', Object.freeze({ role: 'robot' }), 'CONTEXT_INVALID', { path: '$.role' }],
    ['a BigInt', { ...userMessage('u'), metadata: { n: 1n } }, 'NOT_JSON', {}],
  ])('that returns %s fails with the index of the message', async (_, wrong, code, data) => {
    const { state: end } = await observe({
      state,
      compiler: ({ messages }) => [messages.at(0), wrong] as Message[],
    });
    expect(end.status).toBe('failed');
    expect(end.errors).toEqual([
      expect.objectContaining({ code, data: expect.objectContaining({ index: 1, ...data }) }),
    ]);
    expect(end.errors[0]?.message).toMatch(/^A compiler returned an invalid message at index 1\. /);
  });

  test.each([undefined, null, 7, Promise.resolve([])])('that returns no list (%o) fails', async (wrong) => {
    const { state: end } = await observe({ state, compiler: (() => wrong) as never });
    expect(end.status).toBe('failed');
    expect(end.errors).toEqual([expect.objectContaining({ code: 'CONTEXT_INVALID' })]);
    expect(() => messageCompiler(compile, (() => wrong) as never)(state)).toThrow(
      /must return a list of messages/,
    );
  });

  test('that is not a function is refused at once', () => {
    const misuse = expect.objectContaining({ name: 'TypeError', code: 'ARGUMENT_INVALID' });
    expect(() => messageCompiler([] as never)).toThrow(misuse);
    expect(() => messageCompiler(compile, undefined as never)).toThrow(misuse);
    expect(() => scriptedLoop([], { compiler: 'messages' as never })).toThrow(misuse);
  });

  test('that throws ends the execution, and the next execution may succeed', async () => {
    const { state: end } = await observe({
      state,
      compiler: () => {
        throw new Error('no luck');
      },
    });
    expect(end).toMatchObject({ status: 'failed', errors: [{ message: 'no luck' }] });
    const again = await observe({ state: end, script: ['Done.'] });
    expect(again.state.status).toBe('completed');
  });
});
