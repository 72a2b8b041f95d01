import { expect, test } from 'vitest';
import { does } from '../../support/builders.ts';
import { executionsOf, resultsOf, used } from '../../support/tool-runs.ts';

const thrown: readonly (readonly [name: string, thrown: unknown, message: string])[] = [
  ['an Error', new Error('No such city.'), 'No such city.'],
  ['a text', 'No such city.', 'Tool "weather" threw: No such city.'],
  ['an object', { code: 'E_GONE', city: 'Rome' }, 'Tool "weather" threw: {"code":"E_GONE","city":"Rome"}'],
  ['a list', ['a', 1], 'Tool "weather" threw: ["a",1]'],
  [
    'an object with a message',
    { message: 'No such city.', code: 'E' },
    'Tool "weather" threw: No such city.',
  ],
  ['nothing', undefined, 'Tool "weather" threw: undefined'],
  [
    'a response',
    new Response('', { status: 404, statusText: 'Not Found' }),
    'Tool "weather" threw: Response (404 Not Found)',
  ],
];

test.each(thrown)('the model reads what a tool threw: %s', async (_, value, message) => {
  const { state } = await used(does('weather', () => Promise.reject(value)));
  expect(resultsOf(state)).toEqual([message]);
});

test('a long text that a tool threw is cut, and is stored once', async () => {
  const { state } = await used(does('weather', () => Promise.reject('x'.repeat(50_000))));
  expect(resultsOf(state)).toEqual([`Tool "weather" threw: ${'x'.repeat(4_000)}…`]);
  expect(JSON.stringify(executionsOf(state)).length).toBeLessThan(6_000);
});

const lost: readonly (readonly [name: string, returned: unknown, why: string])[] = [
  ['a map', new Map(), 'JSON cannot hold the Map. Convert it with Object.fromEntries().'],
  ['a set inside', { tags: new Set() }, 'JSON cannot hold the Set in "tags". Convert it with Array.from().'],
  [
    'an error',
    new Error('No such city.'),
    'JSON cannot hold the Error (No such city.). Throw it, or convert its message.',
  ],
  [
    'a response',
    new Response('{}', { status: 500 }),
    'JSON cannot hold the Response (500). Convert its content with `await response.json()`, or with `text()`.',
  ],
];

test.each(lost)('a result that JSON loses is refused: %s', async (_, returned, why) => {
  const { state } = await used(does('weather', () => returned));
  expect(resultsOf(state)).toEqual([
    `Tool "weather" was called and completed, but its result is not JSON: ${why}`,
  ]);
  expect(executionsOf(state).map(({ error }) => error?.code)).toEqual(['NOT_JSON']);
});
