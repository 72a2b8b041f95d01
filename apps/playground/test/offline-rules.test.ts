import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import {
  allTools,
  ask,
  assistant,
  called,
  json,
  notes,
  offer,
  user,
  type Call,
  type Options,
} from './offline-prompts.ts';

function calculator(expression: string): Call {
  return ['calculator', { expression }];
}

function write(name: string, text: string): Call {
  return ['notebook_write', { name, text }];
}

function clock(timeZone?: string): Call {
  return ['clock', timeZone === undefined ? {} : { timeZone }];
}

function send(item: string, to: string): Call {
  return ['send_parcel', { to, item }];
}

function pay(to: string, amount: number): Call {
  return ['pay', { to, amount }];
}

function read(name?: string): Call {
  return ['notebook_read', name === undefined ? {} : { name }];
}

describe('the first tool calls', () => {
  test.each<[string, ...Call[]]>([
    ['what is 17 * 23?', calculator('17 * 23')],
    ['12 plus 30', calculator('12 plus 30')],
    ['please tell me (2+3)^2.', calculator('(2+3)^2')],
    ['how much is 15 % of 80', calculator('15 % of 80')],
    ['I have 3 + 4 apples', calculator('3 + 4')],
    ['add 5 and 6', calculator('5 + 6')],
    ['what is 2+2 and what is 2+2', calculator('2+2')],
    ['what is 17 * 23? remember it', calculator('17 * 23')],
    ['remember the result of 3*4', calculator('3*4')],
    ['see pages 3-5'],
    ['pay Ann 250 euros', pay('Ann', 250)],
    ['please pay €12.50 to the baker.', pay('the baker', 12.5)],
    ['what is 2+2 and pay Bob 7', calculator('2+2'), pay('Bob', 7)],
    ['pay attention'],
    ['what is 2+2 and what time is it', calculator('2+2'), clock()],
    ['what time is it in Tokyo and in São Paulo?', clock('Asia/Tokyo'), clock('America/Sao_Paulo')],
    ['what is the date in Europe/Vienna?', clock('Europe/Vienna')],
    ['what time is it in Gotham?'],
    ['the first time I was here'],
    ['remember that I like tea', write('i-like-tea', 'I like tea')],
    ['Please note: buy milk and eggs!', write('buy-milk-and-eggs', 'buy milk and eggs')],
    ['write a note called shopping: milk', write('shopping', 'milk')],
    ['remember 17 * 23', write('17-times-23', '17 * 23')],
    [
      'remember to buy milk and send a letter to mum',
      write('buy-milk-and-send-a-letter-to-mum', 'buy milk and send a letter to mum'),
    ],
    ['My cat is Bob. Remember that.', write('my-cat-is-bob', 'My cat is Bob.')],
    ['write a poem'],
    ['what do you remember?', read()],
    ['what did I ask you to remember?', read()],
    ['what was the result?', read()],
    ['what is my favourite colour?', read()],
    ['read the note shopping', read('shopping')],
    ['send a book to Ann', send('book', 'Ann')],
    ['Could you mail Ann two pens, please? Send a map to Bob.', send('two pens', 'Ann'), send('map', 'Bob')],
    ['send a book, note and pen to Ann', send('book, note and pen', 'Ann')],
    ['send a book to Ann and a pen to Bob', send('book', 'Ann'), send('pen', 'Bob')],
    ['send a book'],
    ['did you send a book to Ann?'],
    ["don't send a book to Ann"],
    ['call calculator with {"expression": "1+1"}', calculator('1+1')],
    ['call mother'],
    ['hello'],
    ['summarise'],
  ])('%s', async (message, ...expected) => {
    const { calls: made, text, finishReason } = await ask(message);
    expect(made).toEqual(expected);
    expect(finishReason.unified).toBe(expected.length > 0 ? 'tool-calls' : 'stop');
    expect(text === '').toBe(expected.length > 0);
  });
});

describe('the text after the tools have answered', () => {
  const multiply = calculator('17 * 23');
  const product = json({ expression: '17 * 23', value: 391 });

  test.each<[string, Call, LanguageModelV4ToolResultOutput, string]>([
    ['what is 17 * 23?', multiply, product, '17 * 23 = 391.'],
    [
      'pay Ann 250 euros',
      pay('Ann', 250),
      json({ receipt: 'B-1', to: 'Ann', amount: 250 }),
      'Paid to Ann: 250 euros (receipt B-1).',
    ],
    [
      'pay Ann 250 euros',
      pay('Ann', 250),
      { type: 'execution-denied', reason: 'Too much.' },
      'The call of pay was denied: Too much.',
    ],
    [
      'what is 17 * 23?',
      multiply,
      { type: 'text', value: '{"expression":"17 * 23","value":391}' },
      '17 * 23 = 391.',
    ],
    ['what is 17 * 23?', multiply, { type: 'text', value: 'many' }, 'Calculator returned "many".'],
    [
      'what is 17 * 23?',
      multiply,
      { type: 'error-text', value: 'out of order' },
      'reported an error: out of order.',
    ],
    [
      'what is 17 * 23?',
      multiply,
      { type: 'error-json', value: { message: 'broken' } },
      'reported an error: broken.',
    ],
    [
      'send a book to Ann',
      send('book', 'Ann'),
      json({ receipt: 'R-7', to: 'Ann', item: 'book' }),
      'Sent to Ann: book (receipt R-7).',
    ],
    [
      'send a book to Ann',
      send('book', 'Ann'),
      { type: 'execution-denied', reason: 'too late' },
      'send_parcel was denied: too late.',
    ],
    [
      'send a book to Ann',
      send('book', 'Ann'),
      { type: 'execution-denied' },
      'The call of send_parcel was denied.',
    ],
    [
      'remember that I like tea',
      write('i-like-tea', 'I like tea'),
      json({ name: 'i-like-tea', bytes: 10 }),
      'I noted “I like tea” under the name “i-like-tea”.',
    ],
    ['what do you remember?', read(), notes('17 * 23 = 391'), 'I noted: 17 * 23 = 391.'],
    ['what do you remember?', read(), notes('one', 'two'), 'My notes say:\n- note-0: one\n- note-1: two'],
    ['what do you remember?', read(), notes(), 'The notebook holds no such note.'],
    ['what do you remember about my tea?', read(), notes('3 = 3', 'I like Tea'), 'I noted: I like Tea.'],
    ['what was the result?', read(), notes('I like tea', '3 * 3 = 9'), 'I noted: 3 * 3 = 9.'],
    ['what was the result of 3*3?', read(), notes('2 * 2 = 4', '3 * 3 = 9'), 'I noted: 3 * 3 = 9.'],
    ['what do you remember about Bob?', read(), notes('I like tea'), 'No note mentions “bob”.'],
    ['what time is it?', clock(), json({ iso: 'x', text: '12:00', timeZone: 'UTC' }), 'It is 12:00 (UTC).'],
    ['call echo', ['echo', {}], json({ heard: 'nothing' }), 'Echo returned {"heard":"nothing"}.'],
  ])('%s %j %j', async (message, call, output, said) => {
    const tools = [...allTools, ...offer('echo')];
    const answer = await ask([user(message), ...called(call, output)], { tools });
    expect(answer.calls).toEqual([]);
    expect(answer.text).toContain(said);
  });

  test('the second call follows the result of the first', async () => {
    const prompt = [user('what is 17 * 23? remember it'), ...called(multiply, product)];
    const second = await ask(prompt);
    expect(second.calls).toEqual([write('17-times-23-is-391', '17 * 23 = 391')]);
  });

  test('a failed step is not retried, and the errands that depend on it are dropped', async () => {
    const prompt = [
      user('what is 1/0? remember it'),
      ...called(calculator('1/0'), { type: 'error-text', value: 'no' }),
    ];
    const { text, calls: made } = await ask(prompt);
    expect(made).toEqual([]);
    expect(text).toContain('I have no result to write down');
  });

  test('a call whose input a host changed counts as done', async () => {
    const output = json({ receipt: 'R-7', to: 'Bob', item: 'book' });
    const { text } = await ask([user('send a book to Ann'), ...called(send('book', 'Bob'), output)]);
    expect(text).toBe('Sent to Bob: book (receipt R-7).');
  });

  test.each([
    ['what is that times 2?', '391 times 2'],
    ['double it', '391 * 2'],
    ['add 9 to that', '9 + 391'],
  ])('"%s" builds on the value before', async (message, expression) => {
    const prompt = [
      user('what is 17 * 23?'),
      ...called(multiply, product),
      assistant('17 * 23 = 391.'),
      user(message),
    ];
    expect((await ask(prompt)).calls).toEqual([calculator(expression)]);
  });

  test('"remember it" and "try again" refer to the turn before', async () => {
    const past = [user('what is 17 * 23?'), ...called(multiply, product), assistant('17 * 23 = 391.')];
    const noted = await ask([...past, user('remember it')]);
    expect(noted.calls).toEqual([write('17-times-23-is-391', '17 * 23 = 391')]);
    expect((await ask([...past, user('try again')])).calls).toEqual([multiply]);
    expect((await ask([...past, user('double it'), assistant('I cannot.'), user('again')])).calls).toEqual([
      calculator('391 * 2'),
    ]);
  });
});

describe('answers about itself and the conversation', () => {
  const past = [
    user('what is 2+2?'),
    ...called(calculator('2+2'), json({ expression: '2+2', value: 4 })),
    assistant('2+2 = 4.'),
    user('I like tea'),
    assistant('I see.'),
  ];

  test.each([
    ['hello', 'Hello! I am the offline model'],
    ['who are you?', 'I am the offline model'],
    ['write me a poem', 'I am the offline model of this playground: rules in this process, no network'],
    ['write me a poem', 'None of my rules matches “write me a poem”'],
    ['what did I say first?', 'Your first message was: “what is 2+2?”'],
    ['what did I just say?', 'Your last message was: “I like tea”'],
    ['how many messages did I write?', 'you wrote 2 messages'],
    ['summarise our conversation', '1. You: “what is 2+2?” Answer: “2+2 = 4.”'],
    ['which tools did you call?', '- calculator: 2+2 = 4'],
    ['did you send a book to Ann?', 'I see no such tool call'],
  ])('%s', async (message, said) => {
    expect((await ask([...past, user(message)])).text).toContain(said);
  });

  test('it offers only the abilities of its tools', async () => {
    expect((await ask('help', { tools: offer('clock') })).text).toContain('tell the time');
    expect((await ask('help', { tools: offer('clock') })).text).not.toContain('send a parcel');
    expect((await ask('help', { tools: offer('echo') })).text).toContain('call echo by name');
    expect((await ask('help', { tools: [] })).text).toContain('No tools are offered to me');
  });

  test('the answer also names the clauses without a rule', async () => {
    const { text } = await ask('who won? And who are you?');
    expect(text).toContain('I have no rule for “who won?”');
  });

  test('an answer is not repeated', async () => {
    expect((await ask([user('hello'), assistant('Hello!')])).text).toBe(
      'I have nothing to add to my last answer.',
    );
  });

  test('a message without text, and an empty prompt', async () => {
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: '' } } as const;
    expect((await ask([{ role: 'user', content: [file] }])).text).toContain('I read text only');
    expect((await ask([{ role: 'system', content: 'Be brief.' }])).text).toContain('I am the offline model');
  });
});

describe('tool choice', () => {
  test.each<[string, Options, readonly Call[], string]>([
    ['what is 2+2?', { toolChoice: { type: 'none' } }, [], 'I was told not to call tools'],
    ['what is 2+2?', { tools: offer('clock') }, [], 'no tool “calculator” is offered to me here'],
    ['what is 2+2?', { tools: [] }, [], 'no tool “calculator” is offered to me here'],
    ['what is 2+2?', { toolChoice: { type: 'required' } }, [calculator('2+2')], ''],
    ['hello', { toolChoice: { type: 'required' } }, [read()], ''],
    [
      'hello',
      { toolChoice: { type: 'required' }, tools: offer('calculator') },
      [],
      'A tool call was demanded of me',
    ],
    ['hello', { toolChoice: { type: 'tool', toolName: 'clock' } }, [clock()], ''],
    ['hello', { toolChoice: { type: 'tool', toolName: 'calculator' } }, [], 'A tool call was demanded of me'],
    ['what is 2+2 and what time is it?', { toolChoice: { type: 'tool', toolName: 'clock' } }, [clock()], ''],
  ])('%s %j', async (message, options, expected, said) => {
    const { calls: made, text } = await ask(message, options);
    expect(made).toEqual(expected);
    expect(text).toContain(said);
  });

  test('a demanded call is made once', async () => {
    const prompt = [user('hello'), ...called(clock(), json({ text: '12:00', timeZone: 'UTC' }))];
    const { calls: made, text } = await ask(prompt, { toolChoice: { type: 'required' } });
    expect(made).toEqual([]);
    expect(text).toContain('Clock: 12:00 (UTC).');
  });
});
