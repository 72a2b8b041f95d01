import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';

interface BrewOptions {
  readonly cups?: number;
  readonly beans?: string;
  readonly onDone?: () => void;
  readonly key?: string;
  readonly parent?: object;
}

const checkOptions = optionsCheck<BrewOptions>(
  'brew',
  {
    cups: mustBe.required(mustBe.wholeNumber(1, 8)),
    beans: mustBe.oneOf(['light', 'dark']),
    onDone: mustBe.function,
    key: mustBe.secret(mustBe.object),
    parent: { ...mustBe.anything, isInternal: true },
  },
  { sugar: 'add it yourself' },
);

const refusal = (name: 'RangeError' | 'TypeError', message: string): unknown =>
  expect.objectContaining({ name, code: 'ARGUMENT_INVALID', message });

const KNOWN = 'Known options: cups, beans, onDone, key.';

describe('options', () => {
  test('that are valid are returned as they are', () => {
    const options = { cups: 2, beans: undefined, parent: {} } as unknown as BrewOptions;
    expect(checkOptions(options)).toBe(options);
  });

  test.each<readonly [string, unknown, 'RangeError' | 'TypeError', string]>([
    ['absent options', undefined, 'TypeError', `brew takes an object with options, found nothing. ${KNOWN}`],
    ['null', null, 'TypeError', `brew takes an object with options, found null. ${KNOWN}`],
    ['a list', [], 'TypeError', `brew takes an object with options, found an array of 0. ${KNOWN}`],
    [
      'a string, which can be a key',
      'sk-1',
      'TypeError',
      `brew takes an object with options, found a string. ${KNOWN}`,
    ],
    ['an unknown option', { cups: 1, milk: true }, 'TypeError', `brew has no option "milk". ${KNOWN}`],
    [
      'an unknown option without a value',
      { cups: 1, milk: undefined },
      'TypeError',
      `brew has no option "milk". ${KNOWN}`,
    ],
    [
      'an option named as a member of every object',
      { cups: 1, toString: 1 },
      'TypeError',
      `brew has no option "toString". ${KNOWN}`,
    ],
    [
      'an unknown option with advice',
      { sugar: 1 },
      'TypeError',
      `brew has no option "sugar": add it yourself. ${KNOWN}`,
    ],
    [
      'a misspelt option',
      { cupz: 1 },
      'TypeError',
      `brew has no option "cupz": did you mean "cups"? ${KNOWN}`,
    ],
    [
      'an option in the singular',
      { cup: 1 },
      'TypeError',
      `brew has no option "cup": did you mean "cups"? ${KNOWN}`,
    ],
    [
      'an option in other case',
      { ondone: 1 },
      'TypeError',
      `brew has no option "ondone": did you mean "onDone"? ${KNOWN}`,
    ],
    ['a missing option', {}, 'TypeError', 'cups of brew must be a whole number from 1 to 8, found nothing.'],
    [
      'null as a value',
      { cups: null },
      'TypeError',
      'cups of brew must be a whole number from 1 to 8, found null.',
    ],
    [
      'a string for a number',
      { cups: '2' },
      'TypeError',
      'cups of brew must be a whole number from 1 to 8, found string "2".',
    ],
    [
      'a number out of range',
      { cups: 9 },
      'RangeError',
      'cups of brew must be a whole number from 1 to 8, found number 9.',
    ],
    [
      'an unknown word',
      { cups: 1, beans: 'raw' },
      'RangeError',
      'beans of brew must be one of light, dark, found string "raw".',
    ],
    [
      'a number for a word',
      { cups: 1, beans: 5 },
      'TypeError',
      'beans of brew must be one of light, dark, found number 5.',
    ],
    [
      'an object for a function',
      { cups: 1, onDone: {} },
      'TypeError',
      'onDone of brew must be a function, found an object.',
    ],
    [
      'an invalid secret',
      { cups: 1, key: 'sk-1' },
      'TypeError',
      'key of brew must be an object, found a string.',
    ],
  ])('%s is refused', (_, options, name, message) => {
    expect(() => checkOptions(options as BrewOptions)).toThrow(refusal(name, message));
  });

  test('can be checked for another owner', () => {
    expect(() => checkOptions({ cups: 0 }, 'brew "morning"')).toThrow('cups of brew "morning" must be');
  });

  test('are also read from a prototype', () => {
    expect(checkOptions(Object.create({ cups: 1 }) as BrewOptions).cups).toBe(1);
    expect(() => checkOptions(Object.create({ cups: 1, milk: 1 }) as BrewOptions)).toThrow('"milk"');
  });
});

describe('the checks of mustBe', () => {
  const methods = { now: () => 1, newId: () => 'a' };
  const rows: readonly (readonly [
    string,
    (typeof mustBe)['boolean'],
    fits: readonly unknown[],
    not: readonly unknown[],
  ])[] = [
    ['boolean', mustBe.boolean, [true, false], [0, 'true', null]],
    ['function', mustBe.function, [() => 1, Date], [{}, null]],
    ['object', mustBe.object, [{}, new Map(), Object.create(null)], [[], null, () => 1, 'x']],
    ['string', mustBe.string, ['', 'x'], [5, null, new String('x')]],
    ['clock', mustBe.clock, [methods, Object.assign(() => 1, methods)], [{}, null, { now: methods.now }, 5]],
    ['signal', mustBe.signal, [new AbortController().signal], [new AbortController(), null, {}]],
    ['seconds', mustBe.seconds, [0.1, 60, 3_155_760_000], [0, -1, Infinity, Number.NaN, '1', 3_155_760_001]],
    ['positive', mustBe.positive, [0.1, Infinity], [0, -0, Number.NaN, '1']],
    ['instant', mustBe.instant, [0, -5, 1e12], [1.5, Infinity, '1', Number.NaN]],
    ['text', mustBe.text(3), ['a', 'abc'], ['', 'abcd', '\ud800', 5, null]],
    ['number', mustBe.number(1, 2), [1, 1.5, 2], [0.9, 2.1, Number.NaN, '1']],
    ['number without a bound', mustBe.number(0), [0, Infinity], [-1, Number.NaN, 1n]],
    ['wholeNumber', mustBe.wholeNumber(0, 9), [0, 9], [-1, 10, 0.5, Number.NaN, '1']],
    [
      'wholeNumber without a bound',
      mustBe.wholeNumber(1),
      [1, Number.MAX_SAFE_INTEGER],
      [0, Infinity, 1e300],
    ],
    ['oneOf', mustBe.oneOf(['a', 'b']), ['a'], ['c', 'length', 5]],
    [
      'listOf',
      mustBe.listOf('words', (word) => word === 'a'),
      [[], ['a']],
      [['b'], { 0: 'a' }, 'a', new Set(['a'])],
    ],
    ['objectWith', mustBe.objectWith('a cup', ['fill']), [{ fill: () => 1 }], [{}, { fill: 1 }, null]],
  ];
  test.each(rows)('%s', (_, check, fits, not) => {
    for (const value of fits) expect(checkArgument('it', value, check)).toBe(value);
    for (const value of not) {
      const code = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
      expect(() => checkArgument('it', value, check)).toThrow(code);
      expect(() => checkArgument('it', value, check)).toThrow(`it must be ${check.expected}, found`);
    }
  });
});
