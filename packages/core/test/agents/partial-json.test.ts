import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PartialJson } from '../../src/agents/partial-json.ts';

const valueOf = (text: string) => {
  const json = new PartialJson();
  json.push(text);
  return json.value;
};

describe('the value of a text that has not ended', () => {
  test.each([
    ['', undefined],
    ['  ', undefined],
    ['{', {}],
    ['{"ci', {}],
    ['{"city"', {}],
    ['{"city":', {}],
    ['{"city": "U', { city: 'U' }],
    ['{"city": "Ulm", "ce', { city: 'Ulm' }],
    ['{"a": 1', { a: 1 }],
    ['{"a": -', {}],
    ['{"a": 1.', { a: 1 }],
    ['{"a": 1.5e', { a: 1.5 }],
    ['{"a": 1.5e+2', { a: 150 }],
    ['{"a": tr', { a: true }],
    ['[', []],
    ['[1, [2, {"a": [', [1, [2, { a: [] }]]],
    ['["a\\', ['a']],
    ['["a\\u00e', ['a']],
    ['["a\\u00e9', ['aé']],
    ['n', null],
    ['"a', 'a'],
    ['```json\n{"a": 1', { a: 1 }],
    ['{"a": 1}\n```', { a: 1 }],
  ])('%j is %j', (text, value) => {
    expect(valueOf(text)).toEqual(value);
  });

  test('a member named __proto__ is a member', () => {
    expect(Object.keys(valueOf('{"__proto__": {"a": 1') as object)).toEqual(['__proto__']);
  });
});

describe('a text that is not JSON', () => {
  test.each([
    'It is 21.',
    '{a',
    '{"a" 1',
    '[1 2',
    '{"a": 1,}',
    '[01, ',
    '[tree',
    '["\\x',
    '["\\u00g',
    '["\n',
    '{]',
    '[}',
  ])('%j has no value after the error', (text) => {
    const json = new PartialJson();
    const isGrowing = json.push(text);
    expect(isGrowing).toBe(false);
    expect(json.push('{"a": 1}')).toBe(false);
  });
});

test('for any JSON, in any pieces, the value grows up to the whole value, and no value changes later', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.nat(30)), fc.constantFrom(0, 2), (value, lengths, indent) => {
      const text = JSON.stringify(value, null, indent);
      const json = new PartialJson();
      const seen: { readonly value: unknown; readonly text: string | undefined }[] = [];
      let at = 0;
      for (const length of [...lengths, text.length]) {
        json.push(text.slice(at, at + length));
        at += length;
        seen.push({ value: json.value, text: JSON.stringify(json.value) });
      }
      expect(JSON.stringify(json.value)).toBe(JSON.stringify(JSON.parse(text)));
      for (const then of seen) expect(JSON.stringify(then.value)).toBe(then.text);
    }),
  );
});

test('what has ended is shared between the values', () => {
  const json = new PartialJson();
  json.push('{"days": [{"day": 1}, {"da');
  const before = json.value as { days: object[] };
  json.push('y": 2}]');
  const after = json.value as { days: object[] };
  expect(after).toEqual({ days: [{ day: 1 }, { day: 2 }] });
  expect(after.days[0]).toBe(before.days[0]);
  expect(before).toEqual({ days: [{ day: 1 }, {}] });
  expect([after, after.days, after.days[0]].every(Object.isFrozen)).toBe(true);
});
