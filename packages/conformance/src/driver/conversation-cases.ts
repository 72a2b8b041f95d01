import assert from 'node:assert/strict';
import { assistantMessage, systemMessage, userMessage, type JsonValue, type Message } from '@holdfast/core';
import { List, toolMessage, type AssistantPart, type ToolOutput } from '@holdfast/core/driver';
import { unheard, type DriverContext, type UngroupedDriverCase } from './driver-case.ts';
import { ADD, answer, inferred, requestOf, sentBy, SUBTRACT } from './driver-calls.ts';
import { saidIn, type ProviderRequest, type SentPart } from './provider.ts';

type Sent<Type extends SentPart['type']> = Extract<SentPart, { type: Type }>;

const call = (toolCallId: string, toolName: string, input: JsonValue): AssistantPart => {
  return { type: 'tool-call', toolCallId, toolName, input };
};
const result = (toolCallId: string, toolName: string, output: ToolOutput) => {
  return { type: 'tool-result', toolCallId, toolName, output } as const;
};

/** A conversation in which a call had this output. */
const exchange = (output: ToolOutput, input: JsonValue = { a: 1, b: 2 }): readonly Message[] => [
  userMessage('sums'),
  assistantMessage([call('call_1', 'add', input)]),
  toolMessage([result('call_1', 'add', output)]),
];

const HISTORY = [
  userMessage('sums'),
  assistantMessage([
    { type: 'text', text: 'Let me see.' },
    call('call_b', 'add', { a: 1, b: 2 }),
    call('call_a', 'subtract', { a: 30, b: 40 }),
  ]),
  toolMessage([
    result('call_b', 'add', { type: 'json', value: 3 }),
    result('call_a', 'subtract', { type: 'text', value: 'No.' }),
  ]),
  assistantMessage('It is 3.'),
  userMessage('thanks'),
];

function partsOf<Type extends SentPart['type']>(sent: ProviderRequest, type: Type): readonly Sent<Type>[] {
  return sent.content.filter((part): part is Sent<Type> => part.type === type);
}

/** Sends a conversation in which a call had this output. Returns the result that the provider received. */
async function sentResult(context: DriverContext, output: ToolOutput): Promise<Sent<'result'>> {
  const sent = await sentBy(context, requestOf(exchange(output), { tools: [ADD] }));
  const [found, ...more] = partsOf(sent, 'result');
  assert(found && more.length === 0, 'The provider must receive one result.');
  assert.equal(found.id, 'call_1');
  return found;
}

const VALUES: readonly JsonValue[] = [{ text: '"a"\n🦊', list: [1, null] }, null, false, 0, []];

const results: readonly UngroupedDriverCase[] = [
  unheard('a JSON result is sent as its JSON', [], async (context) => {
    for (const value of VALUES) {
      const { text } = await sentResult(context, { type: 'json', value });
      assert.deepEqual(JSON.parse(text), value);
    }
  }),
  unheard('the message of an error is sent', [], async (context) => {
    const { text } = await sentResult(context, { type: 'error-text', value: 'The disk is full.' });
    assert.match(text, /The disk is full\./);
    const found = await sentResult(context, { type: 'error-json', value: { code: 'DISK_FULL' } });
    assert.match(found.text, /DISK_FULL/);
  }),
  unheard('an error is marked as an error, and another result is not', ['errorResults'], async (context) => {
    const marks: (boolean | undefined)[] = [];
    for (const type of ['error-text', 'error-json', 'text', 'json'] as const)
      marks.push((await sentResult(context, { type, value: 'The disk is full.' })).isError ?? false);
    assert.deepEqual(marks, [true, true, false, false]);
  }),
  unheard('a denied call sends the reason', [], async (context) => {
    const { text } = await sentResult(context, { type: 'execution-denied', reason: 'Not on Sundays.' });
    assert.match(text, /Not on Sundays\./);
  }),
  unheard('a denied call without a reason says that it was denied', [], async (context) => {
    const { text } = await sentResult(context, { type: 'execution-denied' });
    assert.match(text, /denied|refused|rejected|not approved/i);
  }),
  unheard('the texts of a result with several parts are sent', [], async (context) => {
    const value = ['The first part.', 'The second part.'].map((text) => ({ type: 'text', text }) as const);
    const { text } = await sentResult(context, { type: 'content', value });
    assert.match(text, /The first part\.[\s\S]*The second part\./);
  }),
];

const histories: readonly UngroupedDriverCase[] = [
  unheard('calls and results of the conversation are sent in order', [], async (context) => {
    const request = requestOf(HISTORY, { systemPrompt: 'Be brief.', tools: [ADD, SUBTRACT] });
    assert.deepEqual(saidIn(await sentBy(context, request)), [
      'system Be brief.',
      'user sums',
      'assistant Let me see.',
      'call call_b add',
      'call call_a subtract',
      'result call_b 3',
      'result call_a No.',
      'assistant It is 3.',
      'user thanks',
    ]);
  }),
  unheard('the arguments of earlier calls are sent', [], async (context) => {
    const input = { a: 1, b: 2, note: '"naïve"\n🦊', list: [null, {}] };
    const messages = exchange({ type: 'json', value: 3 }, input);
    const [found] = partsOf(await sentBy(context, requestOf(messages, { tools: [ADD] })), 'call');
    assert.deepEqual(JSON.parse(found?.arguments ?? ''), input);
  }),
  unheard('an earlier call with invalid arguments is sent with its result', [], async (context) => {
    const broken = { ...call('call_1', 'add', '{"a": '), invalid: 'The arguments are not valid JSON.' };
    const [question, , answered] = exchange({ type: 'error-text', value: 'Not valid JSON.' });
    assert(question && answered);
    const messages = [question, assistantMessage([broken]), answered];
    const sent = await sentBy(context, requestOf(messages, { tools: [ADD] }));
    assert.deepEqual(
      sent.content.map(({ type }) => type),
      ['text', 'call', 'result'],
    );
    assert.doesNotThrow(() => JSON.parse(partsOf(sent, 'call')[0]?.arguments ?? ''));
  }),
  unheard(
    'system messages inside the conversation are sent in order',
    ['systemMessages'],
    async (context) => {
      const messages = [userMessage('hello'), systemMessage('The user has logged in.'), userMessage('again')];
      const sent = await sentBy(context, requestOf(messages, { systemPrompt: 'Be brief.' }));
      assert.deepEqual(saidIn(sent), [
        'system Be brief.',
        'user hello',
        'system The user has logged in.',
        'user again',
      ]);
    },
  ),
  unheard('reasoning and sources are not sent as text', [], async (context) => {
    const written = assistantMessage([
      { type: 'reasoning', text: 'Is it Oslo?' },
      { type: 'text', text: 'Oslo.' },
      { type: 'source', source: { sourceType: 'url', id: '1', url: 'https://example.com/oslo' } },
    ]);
    const sent = await sentBy(context, requestOf([userMessage('capital'), written, userMessage('sure?')]));
    assert.deepEqual(saidIn(sent), ['user capital', 'assistant Oslo.', 'user sure?']);
  }),
  unheard('a conversation is sent whole when it grows, and when it branches', [], async (context) => {
    const { driver, requests } = await context.create(
      ['one', 'two', 'three'].map((text) => answer({ text })),
    );
    const start = List.from<Message>([userMessage('one')]);
    const grown = start.concat([assistantMessage('two'), userMessage('three')]);
    const branch = start.concat([assistantMessage('four')]).concat([userMessage('five')]);
    for (const messages of [start, grown, branch]) await inferred(driver, requestOf(messages), context);
    assert.deepEqual(requests().map(saidIn), [
      ['user one'],
      ['user one', 'assistant two', 'user three'],
      ['user one', 'assistant four', 'user five'],
    ]);
  }),
];

/** Requirements on the conversation that a driver sends. */
export const conversationCases: readonly UngroupedDriverCase[] = [...histories, ...results];
