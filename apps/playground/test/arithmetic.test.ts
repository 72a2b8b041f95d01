import { describe, expect, test } from 'vitest';
import { evaluate, findExpressions } from '../src/arithmetic.ts';

describe('evaluate', () => {
  test.each([
    ['17 * 23', 391],
    ['2 + 3 * 4', 14],
    ['(2 + 3) * 4', 20],
    ['(2+3)^2', 25],
    ['10 - 4 - 3', 3],
    ['100 / 10 / 2', 5],
    ['2 ^ 3 ^ 2', 512],
    ['2 ** 10', 1024],
    ['2 ^ -1', 0.5],
    ['-2 ^ 2', -4],
    ['(-2) ^ 2', 4],
    ['- - 3', 3],
    ['-(2 + 3)', -5],
    ['17 % 5', 2],
    ['-17 % 5', -2],
    ['17 mod 5', 2],
    ['15 % of 80', 12],
    ['15 percent of 80', 12],
    ['100 + 50% of 10', 105],
    ['100 / 50% of 4', 50],
    ['50%', 0.5],
    ['10% - 3', -2.9],
    ['12 plus 30', 42],
    ['12 minus 30', -18],
    ['6 TIMES 7', 42],
    ['6 multiplied by 7', 42],
    ['84 divided by 2', 42],
    ['2 to the power of 5', 32],
    ['12 squared', 144],
    ['3 cubed + 1', 28],
    ['3x4', 12],
    ['3 x -4', -12],
    ['6 × 7 ÷ 2 − 1', 20],
    ['1,234,567 + 1', 1234568],
    ['.5 + 1.25', 1.75],
    ['1e3 * 2', 2000],
    ['0.1 + 0.2', 0.3],
    ['7% of 100', 7],
    ['2 ^ 53', 2 ** 53],
    ['0 * -1', 0],
  ])('%s is %d', (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  test.each([
    ['', SyntaxError, 'Expected a number at character 1 of "", but it ends there.'],
    ['2 +', SyntaxError, 'Expected a number at character 4 of "2 +", but it ends there.'],
    ['2 3', SyntaxError, 'Expected an operator at character 3 of "2 3", but "3" stands there.'],
    ['(2 + 3', SyntaxError, 'Expected ")" at character 7'],
    ['2 + 3)', SyntaxError, 'but ")" stands there.'],
    ['80 of 2', SyntaxError, 'but "of" stands there.'],
    ['process.exit()', SyntaxError, 'but "process" stands there.'],
    ['('.repeat(101), SyntaxError, 'at most 100 nested'],
    ['1 / 0', RangeError, 'Cannot divide by zero in "1 / 0".'],
    ['1 / (1 / 0)', RangeError, 'Cannot divide by zero'],
    ['0 ^ -1', RangeError, 'Cannot divide by zero'],
    ['5 % 0', RangeError, 'modulo zero'],
    ['(-8) ^ 0.5', RangeError, 'no real value'],
    ['10 ^ 400', RangeError, 'too large'],
    ['1+'.repeat(600), RangeError, 'at most 1000'],
  ])('%s has no value', (expression, kind, message) => {
    expect(() => evaluate(expression)).toThrow(kind);
    expect(() => evaluate(expression)).toThrow(message);
  });
});

describe('findExpressions', () => {
  test.each<[string, ...string[]]>([
    ['what is 17 * 23? remember it', '17 * 23'],
    ['what is 2+2 and what is 3 times 4?', '2+2', '3 times 4'],
    ['tell me 15 % of 80, please', '15 % of 80'],
    ['(2+3)^2 =', '(2+3)^2'],
    ['2 + 3 - what', '2 + 3'],
    ['(2+3 and so on', '2+3'],
    ['1/0', '1/0'],
    ['12 squared', '12 squared'],
    ['it costs 5'],
    ['15% off'],
    ['a well-known x-ray'],
    ['on 2026-11-21 at 10:30'],
    ['born 1/2/1990'],
    ['version 1.2.3'],
    ['the 4th - 5th of May'],
    [''],
  ])('in "%s"', (text, ...expressions) => {
    expect(findExpressions(text)).toEqual(expressions);
  });

  test('reads hostile texts', () => {
    expect(findExpressions('('.repeat(2000))).toEqual([]);
    expect(findExpressions(`${'1+'.repeat(2000)}(`).length).toBeGreaterThan(0);
  });
});
