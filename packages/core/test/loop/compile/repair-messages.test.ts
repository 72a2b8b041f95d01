import { AgentState, assistantMessage, messageCompiler, userMessage } from '@holdfast/core';
import { List, toolMessage } from '@holdfast/core/driver';
import type { Message, MessageCompiler, Messages } from '@holdfast/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../vitest.properties.ts';
import { saidIn } from '../../support/builders.ts';
import { expectValid, line, written } from '../../support/written.ts';

const NOBODY = AgentState.empty();

/** Repairs what it is given. */
function repairer(): (messages: Iterable<Message>, before?: Messages) => Messages {
  let given: Iterable<Message> = [];
  const compile: MessageCompiler = messageCompiler(() => given);
  return (messages, before) => {
    given = messages;
    return compile(NOBODY, before);
  };
}

const valid = [
  '',
  'u',
  'a',
  's u a u',
  'u a:1,2 t:1,2 a',
  'u a:1,2 t:2 t:1 a',
  'u a:r,1 t:1 a:r,x u',
  'u a:r,r,x,r,1 t:1',
  'u a:x,1,c t:1 s u',
  'u a:e,x u',
  'u a:r,o u',
  'u a:<1,>1,x u',
  'u a:r,<1,>1,r,x u',
  'u a:<1,2 t:2',
  'u a:<1,2 t:2 s',
  'u a:<1,2 t:2 a:>1,x u',
  'u a:<1,2 t:2 a:3 t:3 a:>1,x',
  'u a:r,<1',
  'a a u u',
] as const;

const broken: readonly (readonly [name: string, messages: string, repaired: string])[] = [
  ['a call at the end without a result', 'u a:1', 'u a:1 t:1!'],
  ['a call in the middle without a result', 'u a:1 u a', 'u a:1 t:1! u a'],
  ['one of two results', 'u a:1,2 t:2 u', 'u a:1,2 t:2 t:1! u'],
  ['calls after calls', 'a:1 a:2 t:2', 'a:1 t:1! a:2 t:2'],
  ['a system message between', 'u a:1 s t:1', 'u a:1 t:1! s'],
  ['a result that comes too late', 'u a:1 u t:1', 'u a:1 t:1! u'],
  ['a result without a call', 'u t:9 a', 'u a'],
  ['a result without a call among others', 'u a:1 t:9,1 a', 'u a:1 t:1 a'],
  ['a result at the very start', 't:1 u', 'u'],
  ['a result twice', 'u a:1 t:1 t:1 a', 'u a:1 t:1 a'],
  ['the same id in two answers', 'u a:1 t:1 a:1 t:1', 'u a:1 t:1 a:1_2 t:1_2'],
  ['the same id, once without a result', 'u a:1 a:1 t:1', 'u a:1 t:1! a:1_2 t:1_2'],
  ['the same id in one answer', 'u a:1,2,1 t:1,2,1', 'u a:1,2,1_2 t:1,2,1_2'],
  ['the same id in one answer, one result', 'u a:1,1 t:1 u', 'u a:1,1_2 t:1 t:1_2! u'],
  ['the same id many times', 'a:1 t:1 a:1_2 t:1_2 a:1 t:1', 'a:1 t:1 a:1_2 t:1_2 a:1_3 t:1_3'],
  ['an id that the provider used', 'u a:<1,>1,x a:1 t:1', 'u a:<1,>1,x a:1_2 t:1_2'],
  ['no results in a message', 'u a:1 t: t:1', 'u a:1 t:1'],
  ['nothing in an answer', 'u a: u', 'u u'],
  ['nothing to send in an answer', 'u a:e,c u', 'u u'],
  ['reasoning alone', 'u a:r u', 'u u'],
  ['reasoning before nothing to send', 'u a:r,e,c u', 'u u'],
  ['reasoning at the end', 'u a:r,1,r t:1', 'u a:r,1 t:1'],
  ['reasoning before a call of the provider that was lost', 'u a:r,r,<1,r,x u', 'u a:r,x u'],
  ['reasoning before more than a lost call', 'u a:r,<1,x u', 'u a:r,x u'],
  ['a lost call of the provider alone', 'u a:<1 u', 'u u'],
  ['a lost call of the provider beside ours', 'u a:<1,2 t:2 a u', 'u a:2 t:2 a u'],
  ['a result for the provider in a message of ours', 'u a:<1,2 t:1,2', 'u a:<1,2 t:2'],
  ['a result of the provider without a call', 'u a:>1,x u', 'u a u'],
  ['a result of the provider before its call', 'u a:>1,<1,x u', 'u a u'],
  ['a result of the provider after its turn', 'u a:<1,x u a:>1,x', 'u a u a'],
  ['a result of the provider twice', 'u a:<1,>1,>1,x', 'u a:<1,>1,x'],
  ['a result of ours among the parts of the answer', 'u a:1,>1 u', 'u a:1 t:1! u'],
];

describe('what is valid is not touched', () => {
  test.each(valid)('%j', (stored) => {
    const messages = List.from(written(stored));
    expectValid(messages);
    expect(repairer()(messages)).toBe(messages);
    const copy = repairer()([...messages]);
    expect([...copy].every((message, index) => message === messages.at(index))).toBe(true);
    expect(copy).toHaveLength(messages.length);
  });

  test('parts that carry what a provider wants back are something, however empty', () => {
    const signed = { providerOptions: { google: { thoughtSignature: 's' } } };
    const messages = List.from<Message>([
      userMessage('u'),
      assistantMessage([
        { type: 'reasoning', text: '' },
        { type: 'text', text: '', ...signed },
      ]),
    ]);
    expect(repairer()(messages)).toBe(messages);
  });
});

describe('what is broken is repaired', () => {
  test.each(broken)('%s', (_, stored, repaired) => {
    const source = written(stored);
    const repair = repairer();
    const messages = repair(source);
    expect(line(messages)).toBe(repaired);
    expectValid(messages);
    expect(repair(messages)).toBe(messages);
    expect(repairer()([...messages])).toEqual(messages);
    expect(line(source)).toBe(stored);
    // What was not broken is what it was, and what was made is made once.
    const kept = [...messages].filter((message) => source.includes(message));
    expect(kept).toEqual(source.filter((message) => kept.includes(message)));
    expect([...repairer()(source)].every((message, index) => message === messages.at(index))).toBe(true);
  });

  test('an answer that is there twice is shown once, with its results', () => {
    const source = written('u a:r,1 t:1 a:2 t:2');
    expect(line(repairer()([...source, ...source]))).toBe('u a:r,1 t:1 a:2 t:2 u');
    const restored = JSON.parse(JSON.stringify(source)) as Message[];
    expect(line(repairer()([...source, ...restored]))).toBe('u a:r,1 t:1 a:2 t:2 u');
  });

  test('an answer in two halves is not an answer twice', () => {
    const [answer] = written('a:x,1') as [Message];
    const [text, call] = answer.content;
    const halves = [text, call].map((part) => Object.freeze({ ...answer, content: [part] }) as Message);
    expect(line(repairer()(halves))).toBe('a a:1 t:1!');
  });

  test('an answer in other words is kept in each list that it was added to', () => {
    const repair = repairer();
    const [asked, answer] = written('u a') as [Message, Message];
    const other = { ...answer, content: [{ type: 'text', text: 'b' }] } as Message;
    const beginning = List.from([asked]);
    const source = beginning.append(answer);
    const before = repair(source, repair(beginning));
    for (const _ of ['first', 'second']) expect(line(repair(source.append(other), before))).toBe('u a a');
  });

  test('an answer after one in two halves is kept in each list that it was added to', () => {
    const repair = repairer();
    const [asked, answer, next] = written('u a a') as [Message, Message, Message];
    const other = { ...answer, content: [{ type: 'text', text: 'b' }] } as Message;
    const source = List.from([asked, answer]);
    repair(source);
    const halves = source.append(other);
    const before = repair(halves);
    for (const _ of ['first', 'second']) expect(line(repair(halves.append(next), before))).toBe('u a a a');
  });

  test('an answer that has the id of an earlier call for its own is not that answer again', () => {
    const repair = repairer();
    const [asked, answer, results] = written('u a:1 t:1') as [Message, Message, Message];
    const source = List.from([asked, answer, results]);
    const grown = source.append({ ...answer, id: '1' } as Message, results);
    expect(line(repair(grown, repair(source)))).toBe('u a:1 t:1 a:1_2 t:1_2');
  });

  test('what is made keeps what it was made from', () => {
    const source = written('u a:1 t:1') as [Message, Message, Message];
    const options = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const call = {
      type: 'tool-call',
      toolCallId: '1',
      toolName: 'y',
      input: {},
      providerOptions: options,
    } as const;
    const answer = assistantMessage([call], { providerOptions: options, metadata: { mine: true } });
    const result = {
      type: 'tool-result',
      toolCallId: '1',
      toolName: 'y',
      output: { type: 'text', value: 'z' },
    } as const;
    const results = toolMessage([{ ...result, providerOptions: options }], { providerOptions: options });
    const [, , , changed, changedResults] = repairer()([...source, answer, results]);
    expect(changed).toEqual({ ...answer, content: [{ ...call, toolCallId: '1_2' }] });
    expect(changedResults).toEqual({ ...results, content: [{ ...results.content[0], toolCallId: '1_2' }] });
    const [, missing] = repairer()([answer]);
    expect(missing).toEqual({
      id: answer.id,
      role: 'tool',
      content: [
        {
          ...result,
          output: { type: 'error-text', value: 'No result was recorded.' },
          providerOptions: options,
        },
      ],
    });
  });
});

describe('messages that are not frozen all through', () => {
  const part = (text: string): { type: 'text'; text: string } => ({ type: 'text', text });
  const message = (content: Message['content']): Message => ({ ...userMessage('u'), content }) as Message;
  const [loose, list, shell] = [message([part('a')]), Object.freeze(message([part('a')])), part('a')];
  const inner = Object.freeze(message(Object.freeze([shell])));

  test.each([loose, list, inner])('are copied: %#', (given) => {
    const [copy] = repairer()([given]);
    expect(copy).toEqual(given);
    expect([copy, copy?.content, copy?.content[0]].every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(given.content) && Object.isFrozen(given.content[0])).toBe(false);
  });

  test('are the same copy as long as they are the same', () => {
    const given = message([part('a')]);
    const [first] = repairer()([given]);
    const [second] = repairer()([given]);
    expect(second).toBe(first);
    Object.assign(given, { content: [part('b')] });
    const [third] = repairer()([given]);
    expect(third).toEqual(given);
    expect(first?.content).toEqual([part('a')]);
  });
});

describe('any list', () => {
  const names = fc.constantFrom('1', '2', '3', '1_2', '<4', '>4', '<5', '>5', 'x', 'e', 'r', 'r', 'c', 'o');
  const ids = fc.array(fc.constantFrom('1', '2', '3', '4'), { maxLength: 3 });
  const word = fc.oneof(
    fc.constantFrom('u', 'a', 's'),
    { weight: 3, arbitrary: fc.array(names, { maxLength: 4 }).map((list) => `a:${list.join(',')}`) },
    { weight: 2, arbitrary: ids.map((list) => `t:${list.join(',')}`) },
  );
  const anyMessages = fc.array(word, { maxLength: 12 }).map((words) => written(words.join(' ')));

  test('is valid once it is repaired, and then stays as it is', () => {
    fc.assert(
      fc.property(anyMessages, fc.boolean(), (messages, isTwice) => {
        const source = isTwice ? [...messages, ...messages] : messages;
        const repaired = repairer()(source);
        expectValid(repaired);
        expect([...repairer()([...repaired])]).toEqual([...repaired]);
      }),
      cases(400),
    );
  });

  test('comes to the same from the step before and from the start', () => {
    const change = fc.record({
      from: fc.nat(),
      dropped: fc.nat(2),
      added: anyMessages,
      isAgain: fc.boolean(),
    });
    fc.assert(
      fc.property(anyMessages, fc.array(change, { maxLength: 8 }), (first, changes) => {
        const repair = repairer();
        const steps = [{ source: List.from(first), repaired: repair(List.from(first)) }];
        for (const { from, dropped, added, isAgain } of changes) {
          const before = steps[from % steps.length] as (typeof steps)[number];
          const kept = dropped === 0 ? before.source : List.from(before.source.slice(0, -dropped));
          const source = kept.concat(added).concat(isAgain && kept.length < 50 ? kept.slice() : []);
          const repaired = repair(source, before.repaired);
          expect(saidIn(repaired)).toEqual(saidIn(repairer()([...source])));
          expect(repaired === source).toBe(line(repaired) === line(source));
          steps.push({ source, repaired });
        }
      }),
      cases(300),
    );
  });
});
