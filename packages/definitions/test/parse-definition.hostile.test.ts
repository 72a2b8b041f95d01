import { DefinitionError, parseDefinition } from '@holdfast/definitions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases, codePoint } from '../../../tools/config/vitest.properties.ts';
import { problemsOf } from './problems-of.ts';

const KIB = 1024;
const parse = (file: string, text: string): unknown => parseDefinition(text, { file });
const filled = (text: string): string => text.repeat((100 * KIB) / text.length);

describe('syntax that makes a small text large, or that executes code, is refused', () => {
  test.for<[what: string, found: string, text: string]>([
    ['an alias', 'the alias *a', 'name: a\ndescription: &a b\nlabel: *a'],
    ['aliases of lists', 'the alias *a', 'metadata:\n  a: &a [x, x]\n  b: [*a, *a]\n'],
    ['a merge', 'the alias *a', 'name: a\nmetadata: &a { b: 1 }\nllmConfig: { <<: *a }'],
    [
      'a merge in YAML 1.1',
      'the alias *a',
      '%YAML 1.1\n---\nname: a\nmetadata: &a { b: 1 }\nllmConfig:\n  <<: *a',
    ],
    ['an application tag', 'the tag !env', 'name: !env HOME'],
    ['a tag of YAML', 'the tag tag:yaml.org,2002:binary', 'name: a\nmetadata: { b: !!binary aGk= }'],
    ['a tag on an object', 'the tag tag:yaml.org,2002:set', 'name: a\nmetadata: !!set { b }'],
    [
      'a tag by an address',
      'the tag tag:yaml.org,2002:js/function',
      'name: !<tag:yaml.org,2002:js/function> a',
    ],
    ['a tag on a key', 'the tag tag:yaml.org,2002:str', '!!str name: a'],
    ['a key that is a list', 'a key of another type', 'name: a\nmetadata: { [a]: 1 }'],
    ['a key that is a number', 'the key 1', 'name: a\nmetadata: { 1: a }'],
    ['an empty key', 'the key null', 'name: a\nmetadata: { : a }'],
    ['infinity', '.inf', 'name: a\nbudget: { maxSteps: .inf }'],
    ['not a number', '.NaN', 'name: a\nmetadata: [.NaN]'],
    [
      'an integer that would lose digits',
      '12345678901234567890',
      'name: a\nmetadata: { id: 12345678901234567890 }',
    ],
  ])('%s', async ([, found, text]) => {
    const problems = await problemsOf(() => parse('a.yaml', text));
    expect(problems[0]).toMatchObject({ found, line: expect.any(Number), column: expect.any(Number) });
  });

  test.for(['1e400', '-1e999', '12345678901234567890'])('%s in JSON', async (number) => {
    const [problem] = await problemsOf(() => parse('a.json', `{"name":"a",\n"metadata":{"n":${number}}}`));
    expect(problem).toMatchObject({ line: 2, column: 17, found: number });
  });

  test('numbers as JavaScript writes them are read exactly', () => {
    for (const number of [2 ** 53, 1e21, 123456789012345680000, -1e20, 5e-324]) {
      expect(parse('a.json', `{"name":"a","metadata":{"n":${number}}}`)).toHaveProperty('metadata.n', number);
      expect(parse('a.yaml', `name: a\nmetadata: {n: ${number}}`)).toHaveProperty('metadata.n', number);
    }
  });
});

describe('a definition does not change a prototype', () => {
  test.for<[string, string]>([
    [
      'a.yaml',
      'name: a\nmetadata: { __proto__: { polluted: 1 } }\ncapabilities:\n  __proto__: { polluted: 1 }\n  constructor: { prototype: 1 }',
    ],
    [
      'a.json',
      '{"name":"a","metadata":{"__proto__":{"polluted":1}},"capabilities":{"__proto__":{"polluted":1},"constructor":{"prototype":1}}}',
    ],
  ])('%s', ([file, text]) => {
    const definition = parseDefinition(text, { file });
    expect(Object.keys(definition.capabilities ?? {})).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(definition.metadata)).toBe(Object.prototype);
    expect(JSON.stringify(definition.metadata)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
  test.for([
    '{"__proto__":{"name":"a"}}',
    '{"name":"a","budget":{"__proto__":{"maxSteps":1}}}',
    '{"name":"a","llmConfig":{"__proto__":null}}',
  ])('%s has an unknown key', async (text) => {
    const [problem] = await problemsOf(() => parse('a.json', text));
    expect(problem).toMatchObject({ expected: 'a known key', found: '"__proto__"' });
  });
});

describe('a text that is built to be expensive is refused', () => {
  test.for<[what: string, file: string, text: string]>([
    ['lists in lists', 'a.yaml', filled('[')],
    [
      'lists in lists, in JSON',
      'a.json',
      `{"name":"a","metadata":{"a":${'['.repeat(40_000)}${']'.repeat(40_000)}}}`,
    ],
    [
      'more lists than JSON values may have',
      'a.json',
      `{"name":"a","metadata":{"a":${'['.repeat(1_100)}${']'.repeat(1_100)}}}`,
    ],
    ['dashes', 'a.yaml', filled('- ')],
    ['questions', 'a.yaml', filled('? ')],
    ['objects in objects', 'a.yaml', filled('{a: ')],
    ['commas', 'a.yaml', `[${filled(',').slice(0, 40 * KIB)}`],
    ['documents', 'a.yaml', filled('---\n')],
    ['many unknown keys', 'a.yaml', Array.from({ length: 12_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['many like keys', 'a.yaml', `metadata:\n${filled('  a: 1\n')}`],
    ['many bad names', 'a.json', `{"name":"a","tools":[${filled('1,')}1]}`],
    [
      'aliases of aliases',
      'a.yaml',
      `a0: &a0 [x]\n${Array.from({ length: 99 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`).join('\n')}`,
    ],
    ['fences', 'a.md', filled('---\n')],
    ['a very long key', 'a.json', `{"name":"a","${'k'.repeat(100 * KIB)}":1}`],
    ['a very long value', 'a.json', `{"name":"a","tools":["${'k'.repeat(50 * KIB)}",5]}`],
  ])('%s', async ([, file, text]) => {
    const problems = await problemsOf(() => parse(file, text));
    expect(problems.length).toBeLessThanOrEqual(50);
    for (const problem of problems) expect(JSON.stringify(problem).length).toBeLessThan(1_000);
  });

  test('a text of 128 KiB is read, and a text of one byte more is refused', async () => {
    const text = `---\nname: a\n---\n${'é'.repeat(64 * KIB - 8)}`;
    expect(Buffer.byteLength(text)).toBe(128 * KIB);
    expect(parse('a.md', text)).toHaveProperty('systemPrompt.length', 64 * KIB - 8);
    expect(await problemsOf(() => parse('a.md', `${text}e`))).toEqual([
      {
        file: 'a.md',
        expected: 'at most 131072 bytes',
        found: '131073 bytes',
        advice: 'Move long texts to a place where a tool can read them.',
      },
    ]);
  });
});

function nameOrProblems(text: string, file: string): unknown {
  try {
    return parseDefinition(text, { file }).name;
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems[0];
    throw error;
  }
}

test('every text is either a definition or a list of problems', () => {
  const scraps = fc.constantFrom(
    'name',
    ': ',
    'a',
    '\n',
    '  ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '"',
    "'",
    '#',
    '---\n',
    '&a ',
    '*a',
    '!!x ',
    '|\n',
    '? ',
    '%',
    'tools',
    'budget',
    '1',
    'null',
    '\t',
    '\r\n',
    '\0',
    '\ud800',
    '<<',
  );
  const noise = fc.oneof(
    fc.array(scraps, { maxLength: 30 }).map((parts) => parts.join('')),
    fc.string({ unit: codePoint }),
  );
  fc.assert(
    fc.property(noise, fc.constantFrom('a.md', 'a.yaml', 'a.json'), fc.boolean(), (text, file, isFramed) => {
      const whole = isFramed ? `---\nname: a\n${text}\n---\nHi` : text;
      expect(nameOrProblems(whole, file)).toEqual(expect.anything());
    }),
    cases(3_000),
  );
});
