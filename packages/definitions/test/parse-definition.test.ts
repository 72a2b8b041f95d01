import { agentDefinition, type AgentDefinition } from '@holdfast/core';
import { parseDefinition } from '@holdfast/definitions';
import { describe, expect, test } from 'vitest';

const parse = (file: string, text: string): AgentDefinition => parseDefinition(text, { file });

const full: Required<AgentDefinition> = {
  name: 'writer',
  version: '1.0',
  description: 'Writes: well.',
  label: 'Writer',
  systemPrompt: '# You\n\nWrite well.\n\n---\n\nAnd briefly.',
  llmConfig: { model: 'openai:gpt-5', temperature: 0.2, stopSequences: ['END'] },
  tools: ['search', 'read'],
  toolsDeny: ['delete'],
  capabilities: { summary: { maxTokens: 8000 }, memory: {} },
  budget: {
    maxSteps: 20,
    maxTokens: 1e5,
    maxSeconds: 1.5,
    maxCost: 0.5,
    deadline: Date.UTC(2027, 0, 31, 17),
  },
  metadata: { team: 'docs', on: 'yes', since: '2026-11-21', deep: [{ a: null }] },
};

const HEAD = `name: writer
version: "1.0"
description: 'Writes: well.'
label: Writer # seen by people
llmConfig:
  model: openai:gpt-5
  temperature: 0.2
  stopSequences: [END]
tools:
  - search
  - read
toolsDeny: [delete]
capabilities:
  summary: { maxTokens: 8000 }
  memory:
budget:
  maxSteps: 20
  maxTokens: 1e5
  maxSeconds: 1.5
  maxCost: .5
  deadline: 2027-01-31T18:00:00+01:00
metadata: { team: docs, on: yes, since: 2026-11-21, deep: [{ a: null }] }`;
const MARKDOWN = `---\n${HEAD}\n---\n\n${full.systemPrompt}\n\n`;
const YAML = `${HEAD}\nsystemPrompt: |-\n${full.systemPrompt.replaceAll(/^/gm, '  ')}\n`;
const JSON_TEXT = JSON.stringify(full, null, 2);

describe('a full definition', () => {
  const windows = (text: string): string => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
  test.for<[file: string, text: string]>([
    ['writer.md', MARKDOWN],
    ['WRITER.MD', windows(MARKDOWN)],
    ['writer.yaml', YAML],
    ['writer.yml', windows(YAML)],
    ['writer.json', JSON_TEXT],
    ['writer.json', windows(JSON_TEXT)],
  ])('is read from %s', ([file, text]) => {
    const definition = parse(file, text);
    expect(definition).toEqual(full);
    expect(Object.keys(definition)).toEqual(Object.keys(full));
    expect(Object.isFrozen(definition.capabilities?.['summary'])).toBe(true);
    expect(agentDefinition(definition)).toEqual(definition);
  });
  test('is read in the format that the caller passes', () => {
    expect(parseDefinition(MARKDOWN, { file: 'a database', format: 'markdown' })).toEqual(full);
    expect(parseDefinition(YAML, { file: 'writer.json', format: 'yaml' })).toEqual(full);
  });
});

test.for<[what: string, file: string, text: string, expected: AgentDefinition]>([
  ['only a name', 'a.yaml', 'name: a', { name: 'a' }],
  [
    'an empty system prompt outside Markdown',
    'a.json',
    '{"name":"a","systemPrompt":""}',
    { name: 'a', systemPrompt: '' },
  ],
  [
    'the prompt as a key',
    'a.md',
    '---\nname: a\nsystemPrompt: Hi\n---\n \n',
    { name: 'a', systemPrompt: 'Hi' },
  ],
  ['spaces after the fences', 'a.md', '---  \nname: a\n---\t\nHi', { name: 'a', systemPrompt: 'Hi' }],
  ['a model', 'a.yaml', 'name: a\nmodel: m', { name: 'a', llmConfig: { model: 'm' } }],
  [
    'a model and settings',
    'a.yaml',
    'model: m\nllmConfig: { seed: 1 }\nname: a',
    { name: 'a', llmConfig: { model: 'm', seed: 1 } },
  ],
  [
    'settings and a model',
    'a.json',
    '{"llmConfig":{"seed":1},"model":"m","name":"a"}',
    { name: 'a', llmConfig: { model: 'm', seed: 1 } },
  ],
  [
    'tools with commas',
    'a.yaml',
    'name: a\ntools: Read, Write,Bash(git:*)\ntoolsDeny: b',
    { name: 'a', tools: ['Read', 'Write', 'Bash(git:*)'], toolsDeny: ['b'] },
  ],
  ['no tools', 'a.yaml', 'name: a\ntools: []', { name: 'a', tools: [] }],
  [
    'empty objects',
    'a.yaml',
    'name: a\nbudget: {}\ncapabilities: {}\nmetadata: {}',
    { name: 'a', budget: {}, capabilities: {}, metadata: {} },
  ],
  [
    'a deadline in UTC',
    'a.yaml',
    'name: a\nbudget: { deadline: 2027-01-31T17:00Z }',
    { name: 'a', budget: { deadline: Date.UTC(2027, 0, 31, 17) } },
  ],
  [
    'a deadline with milliseconds',
    'a.yaml',
    'name: a\nbudget: { deadline: "2028-02-29T00:00:00.25-05:30" }',
    { name: 'a', budget: { deadline: Date.UTC(2028, 1, 29, 5, 30, 0, 250) } },
  ],
  [
    'a deadline as an instant',
    'a.json',
    '{"name":"a","budget":{"deadline":1795230000000}}',
    { name: 'a', budget: { deadline: 1795230000000 } },
  ],
  [
    'a text that declares YAML 1.1 is read as YAML 1.2',
    'a.yaml',
    '%YAML 1.1\n---\nname: yes\nlabel: 1_000',
    { name: 'yes', label: '1_000' },
  ],
  [
    'a merge key is an ordinary key',
    'a.yaml',
    'name: a\nmetadata: { <<: { b: 1 } }',
    { name: 'a', metadata: { '<<': { b: 1 } } },
  ],
])('%s', ([, file, text, expected]) => expect(parse(file, text)).toEqual(expected));

test('invalid arguments are refused', () => {
  const misuse = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
  expect(() => parseDefinition('', { file: 'a.txt' })).toThrow(misuse);
  expect(() => parseDefinition('', { file: 'a.md', format: 'toml' as never })).toThrow(misuse);
  expect(() => parseDefinition(5 as never, { file: 'a.md' })).toThrow(misuse);
  expect(() => parseDefinition('', undefined as never)).toThrow(misuse);
  expect(() => parseDefinition('', { file: 5 as never })).toThrow(misuse);
});
