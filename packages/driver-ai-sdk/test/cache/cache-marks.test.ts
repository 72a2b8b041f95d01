import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import * as cacheMarks from '../../src/cache/cache-marks.ts';
import { marksIn, ownTtl } from '../../src/cache/own-marks.ts';

const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const longMark = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } };

const system: LanguageModelV4Message = { role: 'system', content: 'Be brief.' };
const response: LanguageModelV4Message = { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] };
const result: LanguageModelV4Message = { role: 'tool', content: [] };

function question(providerOptions?: SharedV4ProviderOptions): LanguageModelV4Message {
  return {
    role: 'user',
    content: [{ type: 'text', text: 'Hi.' }],
    ...(providerOptions && { providerOptions }),
  };
}

function callWith(
  prompt: LanguageModelV4Prompt,
  rest: Partial<LanguageModelV4CallOptions> = {},
): LanguageModelV4CallOptions {
  return {
    prompt,
    tools: ['find', 'read'].map((name) => ({ type: 'function', name, inputSchema: {} })),
    ...rest,
  };
}

function withMarks(
  options: LanguageModelV4CallOptions,
  given: SharedV4ProviderOptions,
  ttl: '5m' | '1h',
): LanguageModelV4CallOptions {
  return cacheMarks.withMarks(options, given, ttl, options.prompt.flatMap(marksIn));
}

/** The places with marks: names of tools, and indexes of messages. */
function places({ prompt, tools = [] }: LanguageModelV4CallOptions): (string | number)[] {
  const marked = tools.flatMap((tool) =>
    tool.type === 'function' && ownTtl(tool.providerOptions) ? tool.name : [],
  );
  return [
    ...marked,
    ...prompt.flatMap(({ providerOptions }, place) => (ownTtl(providerOptions) ? place : [])),
  ];
}

describe('marks stand at', () => {
  test.each<[string, LanguageModelV4Prompt, (string | number)[]]>([
    ['tools and the first message', [question()], ['read', 0]],
    ['tools, system prompt and the first message', [system, question()], ['read', 0, 1]],
    [
      'the end of this prompt and of the prompt before',
      [system, question(), response, question(), response, result],
      ['read', 0, 3, 5],
    ],
    [
      'the last of several messages of a user',
      [question(), question(), response, result, question()],
      ['read', 1, 4],
    ],
    ['no response, when the prompt ends with one', [question(), response], ['read', 0]],
    ['no message in an empty prompt', [], ['read']],
  ])('%s', (_, prompt, expected) => {
    expect(places(withMarks(callWith(prompt), mark, '5m'))).toEqual(expected);
  });
});

describe('marks of the application', () => {
  test('stay, and count', () => {
    const prompt = [system, question(mark), response, question(mark), response, question()];
    const marked = withMarks(callWith(prompt), mark, '5m');
    expect(places(marked)).toEqual([0, 1, 3, 5]);
  });

  test.each([
    ['messages', callWith(Array.from({ length: 4 }, () => question(mark)).concat(response, question()))],
    [
      'parts',
      callWith([
        {
          role: 'user',
          content: Array.from({ length: 4 }, () => ({ type: 'text', text: 'Hi.', providerOptions: mark })),
        },
        response,
        question(),
      ]),
    ],
  ])('leave no place when there are four, in %s', (_, options) => {
    expect(places(withMarks(options, mark, '5m'))).toEqual(places(options));
  });

  test('count in the request and in tools', () => {
    const tools = [{ type: 'function', name: 'find', inputSchema: {}, providerOptions: mark } as const];
    const options = callWith([system, question(), response, question()], { tools, providerOptions: mark });
    expect(places(withMarks(options, mark, '5m'))).toEqual(['find', 1, 3]);
  });

  test('with another lifetime stay alone', () => {
    const options = callWith([system, question(longMark), response, question()]);
    expect(withMarks(options, mark, '5m')).toBe(options);
    expect(places(withMarks(options, longMark, '1h'))).toEqual(['read', 0, 1, 3]);
  });

  test.each(['cache_control', 'cachePoint'])('may be named %s', (name) => {
    const options = callWith([question({ any: { [name]: { type: 'default' } } })], { tools: [] });
    expect(withMarks(options, mark, '5m').prompt).toEqual(options.prompt);
  });
});

test('marks change neither the options nor the messages of a call', () => {
  const options = callWith([system, question(), response, question()]);
  const before = JSON.stringify(options);
  withMarks(options, mark, '5m');
  expect(JSON.stringify(options)).toBe(before);
});

test('other options of a message stay', () => {
  const { prompt } = withMarks(
    callWith([question({ anthropic: { other: 1 }, openai: { a: 1 } })]),
    mark,
    '5m',
  );
  const cacheControl = { type: 'ephemeral' };
  expect(prompt[0]?.providerOptions).toEqual({ anthropic: { cacheControl, other: 1 }, openai: { a: 1 } });
});
