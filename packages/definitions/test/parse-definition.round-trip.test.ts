import assert from 'node:assert/strict';
import { agentDefinition, type AgentDefinition } from '@holdfast/core';
import { parseDefinition } from '@holdfast/definitions';
import fc from 'fast-check';
import { test } from 'vitest';
import { cases, codePoint } from '../../../tools/config/vitest.properties.ts';
import { stringify } from 'yaml';

const ODD_TEXTS = [
  '',
  ' ',
  'yes',
  'null',
  '~',
  '1.0',
  '0x1F',
  '.inf',
  '2026-11-21',
  '<<',
  '- a',
  'a: b',
  ' # c',
  '%',
  '@',
];
const ODD_NAMES = [
  '__proto__',
  'constructor',
  '\0',
  '\ud800',
  '\u2028',
  '🦊',
  '---',
  '&a',
  '*a',
  '!!str',
  '"',
  "'",
  '\t',
];

const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: codePoint, maxLength: 8 }),
  fc.constantFrom(...ODD_TEXTS, ...ODD_NAMES, 'two\nlines\n', '\n\n', 'a\n  b \n', 'x'.repeat(200)),
);
const names = texts.filter((text) => text !== '');
/** Without a backslash: see `docs/state-format.md` on JSON.parse. */
const keys = names.filter((name) => !name.includes('\\'));
const values = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    texts,
    fc.double({ noNaN: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(keys, tie('any')), { maxLength: 3 })
    .map((entries): object => Object.fromEntries(entries)),
}));
const amount = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
const list = fc.uniqueArray(names, { maxLength: 3 });

const definitions: fc.Arbitrary<AgentDefinition> = fc
  .record(
    {
      name: names,
      version: names,
      description: texts,
      label: texts,
      systemPrompt: texts,
      llmConfig: fc.record(
        {
          model: texts,
          temperature: amount,
          stopSequences: fc.array(texts, { maxLength: 2 }),
          providerOptions: values.object,
        },
        { requiredKeys: [] },
      ),
      tools: list,
      toolsDeny: list,
      capabilities: fc.dictionary(keys, values.object, { maxKeys: 3 }),
      budget: fc.record(
        {
          maxSteps: fc.nat(),
          maxTokens: amount,
          maxSeconds: amount,
          maxCost: amount,
          deadline: fc.maxSafeInteger(),
        },
        { requiredKeys: [] },
      ),
      metadata: values.object,
    },
    { requiredKeys: ['name'] },
  )
  .map((init) => agentDefinition(init as AgentDefinition));

const FORMS: Readonly<Record<string, (definition: AgentDefinition) => string>> = {
  'a.json': (definition) => JSON.stringify(definition),
  'indented.json': (definition) => JSON.stringify(definition, null, '\t'),
  'a.yaml': (definition) => stringify(definition, { aliasDuplicateObjects: false }),
  'flow.yaml': (definition) =>
    stringify(definition, { aliasDuplicateObjects: false, collectionStyle: 'flow' }),
};

test.for(Object.entries(FORMS))(
  'a definition that is written to %s and read again is equal',
  ([file, write]) => {
    fc.assert(
      fc.property(definitions, (definition) => {
        assert.deepStrictEqual(parseDefinition(write(definition), { file }), definition);
      }),
      cases(500),
    );
  },
);

test('a deadline as a date and time is read as its instant', () => {
  const moments = fc.date({ min: new Date(0), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, (moment) => {
      const text = `name: a\nbudget: { deadline: ${moment.toISOString()} }`;
      assert.equal(parseDefinition(text, { file: 'a.yaml' }).budget?.deadline, moment.getTime());
    }),
    cases(200),
  );
});
