import {
  AgentState,
  assistantMessage,
  messageCompiler,
  userMessage,
  type Message,
  type MessageCompiler,
  type Messages,
} from '@holdfast/core';
import { List, toolMessage } from '@holdfast/core/driver';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
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
  ['the same id in two responses', 'u a:1 t:1 a:1 t:1', 'u a:1 t:1 a:1_2 t:1_2'],
  ['the same id, once without a result', 'u a:1 a:1 t:1', 'u a:1 t:1! a:1_2 t:1_2'],
  ['the same id in one response', 'u a:1,2,1 t:1,2,1', 'u a:1,2,1_2 t:1,2,1_2'],
  ['the same id in one response, one result', 'u a:1,1 t:1 u', 'u a:1,1_2 t:1 t:1_2! u'],
  ['the same id many times', 'a:1 t:1 a:1_2 t:1_2 a:1 t:1', 'a:1 t:1 a:1_2 t:1_2 a:1_3 t:1_3'],
  ['an id that the provider used', 'u a:<1,>1,x a:1 t:1', 'u a:<1,>1,x a:1_2 t:1_2'],
  ['no results in a message', 'u a:1 t: t:1', 'u a:1 t:1'],
  ['a response without parts', 'u a: u', 'u u'],
  ['a response without content', 'u a:e,c u', 'u u'],
  ['reasoning alone', 'u a:r u', 'u u'],
  ['reasoning before no content', 'u a:r,e,c u', 'u u'],
  ['reasoning at the end', 'u a:r,1,r t:1', 'u a:r,1 t:1'],
  ['reasoning before a provider call without a result', 'u a:r,r,<1,r,x u', 'u a:r,x u'],
  ['reasoning before a provider call without a result and text', 'u a:r,<1,x u', 'u a:r,x u'],
  ['a provider call without a result', 'u a:<1 u', 'u u'],
  ['a provider call without a result beside a call of the loop', 'u a:<1,2 t:2 a u', 'u a:2 t:2 a u'],
  ['a result for the provider in a message of ours', 'u a:<1,2 t:1,2', 'u a:<1,2 t:2'],
  ['a result of the provider without a call', 'u a:>1,x u', 'u a u'],
  ['a result of the provider before its call', 'u a:>1,<1,x u', 'u a u'],
  ['a result of the provider after its turn', 'u a:<1,x u a:>1,x', 'u a u a'],
  ['a result of the provider twice', 'u a:<1,>1,>1,x', 'u a:<1,>1,x'],
  ['a result of a call of the loop among the parts of the response', 'u a:1,>1 u', 'u a:1 t:1! u'],
];

describe('valid messages do not change', () => {
  test.each(valid)('%j', (stored) => {
    const messages = List.from(written(stored));
    expectValid(messages);
    expect(repairer()(messages)).toBe(messages);
    const copy = repairer()([...messages]);
    expect([...copy].every((message, index) => message === messages.at(index))).toBe(true);
    expect(copy).toHaveLength(messages.length);
  });

  test('parts with provider options stay, even when they are empty', () => {
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

describe('invalid messages are repaired', () => {
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

  test('a repeated response is shown once, with its results', () => {
    const source = written('u a:r,1 t:1 a:2 t:2');
    expect(line(repairer()([...source, ...source]))).toBe('u a:r,1 t:1 a:2 t:2 u');
    const restored = JSON.parse(JSON.stringify(source)) as Message[];
    expect(line(repairer()([...source, ...restored]))).toBe('u a:r,1 t:1 a:2 t:2 u');
  });

  test('a response in two halves is not a repeated response', () => {
    const [answer] = written('a:x,1') as [Message];
    const [text, call] = answer.content;
    const halves = [text, call].map((part) => Object.freeze({ ...answer, content: [part] }) as Message);
    expect(line(repairer()(halves))).toBe('a a:1 t:1!');
  });

  test('a changed response with the same id is shown in each list that it was added to', () => {
    const repair = repairer();
    const [asked, answer] = written('u a') as [Message, Message];
    const other = { ...answer, content: [{ type: 'text', text: 'b' }] } as Message;
    const beginning = List.from([asked]);
    const source = beginning.append(answer);
    const before = repair(source, repair(beginning));
    for (const _ of ['first', 'second']) expect(line(repair(source.append(other), before))).toBe('u a a');
  });

  test('a response after a split response is shown in each list that it was added to', () => {
    const repair = repairer();
    const [asked, answer, next] = written('u a a') as [Message, Message, Message];
    const other = { ...answer, content: [{ type: 'text', text: 'b' }] } as Message;
    const source = List.from([asked, answer]);
    repair(source);
    const halves = source.append(other);
    const before = repair(halves);
    for (const _ of ['first', 'second']) expect(line(repair(halves.append(next), before))).toBe('u a a a');
  });

  test('a response whose id equals an earlier call id is not a repeated response', () => {
    const repair = repairer();
    const [asked, answer, results] = written('u a:1 t:1') as [Message, Message, Message];
    const source = List.from([asked, answer, results]);
    const grown = source.append({ ...answer, id: '1' } as Message, results);
    expect(line(repair(grown, repair(source)))).toBe('u a:1 t:1 a:1_2 t:1_2');
  });

  test('a repaired message retains the other members of its original', () => {
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

describe('messages that are not deeply frozen', () => {
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

  test('are the same copy while they do not change', () => {
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

  test('is valid after repair, and does not change in a second repair', () => {
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

  test('gives the same result from the step before and from the start', () => {
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
