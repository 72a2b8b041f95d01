import { APICallError, JSONParseError } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { fasterGrowth, repeated, type Pump, type Work } from '../../../tools/config/vitest.growth.ts';
import { callFailed } from '../src/errors/driver-error.ts';
import { errorKindOf, isCorrectable, isRefusal } from '../src/errors/error-kind.ts';
import { KEY_FORMS } from '../src/errors/key-forms.ts';
import { hideKeys, redact } from '../src/errors/redact.ts';
import { retryAfterSeconds } from '../src/errors/retry-after.ts';
import { KNOWN_PLACES } from '../src/refusals/known-places.ts';
import { StreamedResponse } from '../src/response/stream-response.ts';
import { KEYS } from './errors/keys.ts';
import { apiError } from './builders.ts';

/** A text of a provider, however long, costs linear time: 1 MB takes at most six times as long as 256 KB. */

const model = { provider: 'openai.chat', modelId: 'gpt-5' };
const failed = (error: unknown): unknown =>
  callFailed({ model, error, attempts: 1, retryAfterSeconds: undefined }, { secrets: ['aaaaaab'] });

const pumpsOf = (...pieces: readonly string[]): readonly Pump[] => pieces.map((piece) => repeated(piece));
const plain = pumpsOf('a', ' ', '\n    at a', '{"a":', 'a://');

/** The beginnings of what `hideKeys` looks for. */
const beginnings = pumpsOf(
  'a',
  '1',
  ' ',
  '.',
  '-',
  '*',
  '=',
  '"',
  '\\n',
  '%22',
  'aA1',
  'a1 ',
  '//',
  'a://',
  'a://b@',
  'http://a?',
  '?key=',
  '&key=a',
  'bearer ',
  'bearer a1',
  'basic ',
  'authorization:',
  'token=',
  'token   ',
  'api key provided ',
  'api_key="',
  'api-key-',
  'secret',
  'password: ',
  'req_',
);

/** The beginnings of the words by which kinds of errors are known. */
const words = pumpsOf(
  'item with id ',
  "item '",
  'retryDelay":"',
  '"retryDelay" ',
  'please retry in 1',
  'invalid api key',
  'spending limit',
  'maximum ',
  'specified workspace api',
  'weekly monthly usage',
  'content',
  'too many input ',
  'prompt token count of 1',
  '`inputs` tokens + ',
  'malformed input request: ',
  'cannot read properties of undefined ',
  'tool call id was ',
  '"type" : "invalid',
);

/** The beginnings of the places that providers refuse. */
const places = pumpsOf(
  'messages.1',
  'messages.1.member.a',
  'messages[1][1]',
  'input[1].a',
  'contents[1][1].a',
  '"messages", 1',
  "message at position 1 with role '",
  'assistant message at message ',
  'unexpected `tool_use_id` found in `',
  'Item a of type a ',
);

const works: Readonly<Record<string, readonly [Work, readonly Pump[]]>> = {
  redact: [(text) => redact(text, ['aaaaaab', 'Bearer a1a1a1']), plain],
  hideKeys: [hideKeys, beginnings],
  'a message': [(text) => failed(apiError(400, { message: text })), [...plain, ...words]],
  'the message of a refusal': [(text) => failed(apiError(401, { message: text, responseBody: text })), plain],
  'a body': [(text) => failed(apiError(429, { message: 'x', responseBody: text })), [...plain, ...words]],
  'a body as an object': [(text) => failed(apiError(500, { responseBody: { error: text } as never })), plain],
  'an error with a long stack': [(text) => failed(new Error(text, { cause: new Error(text) })), plain],
  'an error that is a text': [failed, [...plain, ...words]],
  'an error inside a stream': [(text) => failed({ error: { type: text, code: text, message: text } }), plain],
  'a body that is not JSON': [(text) => failed(notJson(text)), plain],
  'the words of an error': [
    (text) => [errorKindOf(text), isCorrectable(text, 'itemGone'), isRefusal(text)],
    words,
  ],
  'the places in a text': [(text) => KNOWN_PLACES.map(({ says }) => says.exec(text)), places],
  'the wait in a body': [(text) => retryAfterSeconds(text, 0), words],
  'the wait in a header': [
    (text) => retryAfterSeconds(apiError(429, { headers: { 'retry-after': text } }), 0),
    pumpsOf('1', ' ', '.', 'a'),
  ],
};

function notJson(text: string): APICallError {
  const cause = new JSONParseError({ text, cause: new Error('x') });
  return new APICallError({
    message: text,
    url: 'https://a.example',
    requestBodyValues: {},
    statusCode: 200,
    cause,
  });
}

test.each(Object.entries(works))('%s', async (_, [work, pumps]) => {
  expect(await fasterGrowth(work, pumps)).toEqual([]);
});

test.each(KEY_FORMS.map((row) => [row.of, row] as const))('the form of keys of %s', async (_, { form }) => {
  const keys = Object.values(KEYS).filter((key) => key.search(form) === 0);
  const starts = keys.slice(0, 1).flatMap((key) => [key.slice(0, 4), key.slice(0, 11), `${key} `]);
  const replace: Work = (text) => text.replaceAll(form, '');
  expect(
    await fasterGrowth(
      replace,
      [...starts, 'a', ' '].map((piece) => repeated(piece)),
    ),
  ).toEqual([]);
});

describe('a streamed response', () => {
  const parts = (size: number, add: (response: StreamedResponse, index: number) => void): unknown => {
    const response = new StreamedResponse(model);
    for (let index = 0; index < size / 32; index++) add(response, index);
    return response.partial('error');
  };
  const streams: Readonly<Record<string, (response: StreamedResponse, index: number) => void>> = {
    'of short deltas': (response) => response.add({ type: 'text-delta', id: '1', delta: 'a' }),
    'of parts that reuse one id': (response) => {
      response.add({ type: 'text-start', id: '1' });
      response.add({ type: 'text-delta', id: '1', delta: 'a' });
      response.add({ type: 'text-end', id: '1' });
    },
    'of parts with ids of their own': (response, index) =>
      response.add({ type: 'reasoning-delta', id: String(index), delta: 'a' }),
    'of calls': (response, index) => {
      response.add({ type: 'tool-input-start', id: `c${index}`, toolName: 't' });
      response.add({ type: 'tool-input-delta', id: `c${index}`, delta: '{}' });
      response.add({ type: 'tool-call', toolCallId: `c${index}`, toolName: 't', input: '{}' });
    },
  };
  test.each(Object.entries(streams))('%s', async (_, add) => {
    expect(await fasterGrowth(({ length }) => parts(length, add), [repeated('a')])).toEqual([]);
  });

  test('of calls with long arguments', async () => {
    const work: Work = (text) => {
      const response = new StreamedResponse(model);
      response.add({ type: 'tool-call', toolCallId: 'c', toolName: 't', input: text });
      return response.complete();
    };
    expect(await fasterGrowth(work, pumpsOf('[', '{"a":', '"', 'a'))).toEqual([]);
  });
});
