import type { AgentDefinition } from '@holdfast/core';
import { parseDefinition } from '@holdfast/definitions';
import { describe, expect, test } from 'vitest';
import { problemsOf, refusalOf } from './problems-of.ts';

const parse = (file: string, text: string): AgentDefinition => parseDefinition(text, { file });

const messageOf = async (file: string, text: string): Promise<string> =>
  (await refusalOf(() => parse(file, text))).message;

/** A Markdown file with this front matter, which begins on line 2. */
const md = (head: string): string => `---\n${head}\n---\nHi`;

describe('a problem', () => {
  test.for<[said: string, file: string, text: string]>([
    ['a.yaml: name: expected a name, found nothing. For example name: "writer".', 'a.yaml', 'label: A'],
    ['a.md:2:7: name: expected a name, found string "". For example name: "writer".', 'a.md', md('name: ""')],
    [
      'a.md:3:10: version: expected a version as a string, found number 1. For example version: "1.0".',
      'a.md',
      md('name: a\nversion: 1.0'),
    ],
    [
      'a.json:2:13: version: expected a version as a string, found number 1. For example "version": "1.0".',
      'a.json',
      '{"name": "a",\n "version": 1.0}',
    ],
    [
      'a.md:3:8: label: expected a string, found boolean true. For example label: "Writer".',
      'a.md',
      md('name: a\nlabel: true'),
    ],
    [
      'a.md:3:1: tools: expected an array, found null. For example tools: ["search","read"]. Omit tools to allow all tools, or write [] to allow none.',
      'a.md',
      md('name: a\ntools: # all'),
    ],
    [
      'a.md:3:8: tools: expected an array, found string "a,,b". For example tools: ["search","read"]. Omit tools to allow all tools, or write [] to allow none.',
      'a.md',
      md('name: a\ntools: a,,b'),
    ],
    [
      'a.yaml:4:5: tools[1]: expected a name, found number 5. For example tools: ["search","read"]. Omit tools to allow all tools, or write [] to allow none.',
      'a.yaml',
      'name: a\ntools:\n  - b\n  - 5',
    ],
    [
      'a.yaml:2:16: toolsDeny[1]: expected each name once, found string "b". For example toolsDeny: ["delete"].',
      'a.yaml',
      'name: a\ntoolsDeny: [b, b]',
    ],
    [
      'a.yaml:2:15: capabilities: expected an object, found an array of 1. For example capabilities: {"summary":{"maxTokens":8000}}.',
      'a.yaml',
      'name: a\ncapabilities: [memory]',
    ],
    [
      'a.yaml:3:11: capabilities.memory: expected an object, found boolean true. For example capabilities: {"summary":{"maxTokens":8000}}.',
      'a.yaml',
      'name: a\ncapabilities:\n  memory: true',
    ],
    [
      'a.yaml:2:9: budget: expected an object, found number 5. For example budget: {"maxSteps":20}.',
      'a.yaml',
      'name: a\nbudget: 5',
    ],
    [
      'a.yaml:2:20: budget.maxSteps: expected a number of at least 0, found number -1. For example maxSteps: 20.',
      'a.yaml',
      'name: a\nbudget: {maxSteps: -1}',
    ],
    [
      'a.yaml:3:3: budget.maxCost: expected a number of at least 0, or an omitted limit, found null. For example maxCost: 0.5.',
      'a.yaml',
      'name: a\nbudget:\n  maxCost:',
    ],
    [
      'a.yaml:2:22: budget.maxSeconds: expected a number, found string "5 min". For example maxSeconds: 60.',
      'a.yaml',
      'name: a\nbudget: {maxSeconds: 5 min}',
    ],
    [
      'a.yaml:2:20: budget.deadline: expected a date and time with its offset from UTC, found string "2027-01-31". For example deadline: "2027-01-31T18:00:00+01:00".',
      'a.yaml',
      'name: a\nbudget: {deadline: 2027-01-31}',
    ],
    [
      'a.yaml:4:5: llmConfig.stopSequences[1]: expected a string, found number 5. For example stopSequences: ["END"].',
      'a.yaml',
      'name: a\nllmConfig: {stopSequences: [\n    END,\n    5]}',
    ],
    [
      'a.yaml:2:8: model: expected a string, found number 5. For example model: "openai:gpt-5".',
      'a.yaml',
      'name: a\nmodel: 5',
    ],
    [
      'a.yaml:3:1: model: expected either model or llmConfig.model, found both. Remove one of them.',
      'a.yaml',
      'name: a\nllmConfig: {model: b}\nmodel: c',
    ],
    [
      'a.yaml:2:11: metadata: expected an object, found an array of 1. For example metadata: {"team":"docs"}.',
      'a.yaml',
      'name: a\nmetadata: [1]',
    ],
    [
      'a.md: systemPrompt: expected a system prompt below the front matter, found nothing. Write the prompt below the second line of ---.',
      'a.md',
      '---\nname: a\n---\n \n',
    ],
    [
      'a.md:3:1: systemPrompt: expected either systemPrompt or a prompt below the front matter, found both. Remove one of them.',
      'a.md',
      md('name: a\nsystemPrompt: b'),
    ],
    [
      'a.md:1:1: expected front matter between two lines of ---, found no opening line. Write ---, name: …, --- and then the prompt; if the file is not an agent, begin its name with _.',
      'a.md',
      '# Hi',
    ],
    [
      'a.md:1:1: expected front matter between two lines of ---, found no closing line. Write ---, name: …, --- and then the prompt; if the file is not an agent, begin its name with _.',
      'a.md',
      '---\nname: a\n----\nHi',
    ],
    [
      'a.yaml:1:1: expected keys with values, found nothing. For example name: "writer".',
      'a.yaml',
      '# name: a',
    ],
    [
      'a.json:1:1: expected keys with values, found a list. For example name: "writer".',
      'a.json',
      '["name"]',
    ],
    [
      'a.yaml:1:1: expected keys with values, found a string. For example name: "writer".',
      'a.yaml',
      'writer',
    ],
    [
      'a.yaml:3:1: expected each key once, found a second "name". Remove one of them.',
      'a.yaml',
      'name: a\nlabel: A\nname: b',
    ],
    [
      'a.json:1:23: expected each key once, found a second "a". Remove one of them.',
      'a.json',
      '{"metadata": {"a": 1, "a": 2}}',
    ],
    [
      'a.yaml:2:1: expected one definition, found a second document. Move it to a file of its own; a prompt below front matter needs a .md file.',
      'a.yaml',
      'name: a\n---\nname: b',
    ],
  ])('%s', async ([said, file, text]) => {
    expect(await messageOf(file, text)).toBe(`Invalid agent definition: ${said}`);
  });

  test.for<[place: [line?: number, column?: number], file: string, text: string]>([
    [[3, 14], 'a.md', md('name: a\ndescription: Use when: asked')],
    [[2, 1], 'a.yaml', 'name: a\n\tlabel: b'],
    [[1, 9], 'a.yaml', 'name: "a'],
    [[1, 9], 'a.yaml', 'name: [a'],
    [[2, 16], 'a.json', '{"name": "a",\n  "label": "A",}'],
    [[2, 3], 'a.json', '{"name": "a",\n  // A\n"label": "A"}'],
    [[1, 13], 'a.json', '{"name": "a"'],
    [[], 'a.json', '{"name":'],
  ])('of the syntax is reported at %j', async ([[line, column], file, text]) => {
    const [problem, ...others] = await problemsOf(() => parse(file, text));
    const expected = `valid ${file.endsWith('json') ? 'JSON' : 'YAML'}`;
    expect([problem?.line, problem?.column, problem?.expected, others]).toEqual([line, column, expected, []]);
    expect(problem?.found).toMatch(/^the error "[^\n]+"$/);
  });
});

describe('an unknown key', () => {
  test.for<[path: string, meant: string]>([
    ['system_prompt', 'systemPrompt'],
    ['system-prompt', 'systemPrompt'],
    ['sytemPrompt', 'systemPrompt'],
    ['instructions', 'systemPrompt'],
    ['prompt', 'systemPrompt'],
    ['nmae', 'name'],
    ['Name', 'name'],
    ['tool', 'tools'],
    ['tools_deny', 'toolsDeny'],
    ['disallowedTools', 'toolsDeny'],
    ['llm_config', 'llmConfig'],
    ['capability', 'capabilities'],
    ['maxTurns', 'budget.maxSteps'],
    ['maxSteps', 'budget.maxSteps'],
    ['temperature', 'llmConfig.temperature'],
    ['llmConfig.temprature', 'llmConfig.temperature'],
    ['llmConfig.maxTokens', 'llmConfig.maxOutputTokens'],
    ['llmConfig.top_p', 'llmConfig.topP'],
    ['llmConfig.maxSteps', 'budget.maxSteps'],
    ['llmConfig.tools', 'tools'],
    ['budget.max-steps', 'budget.maxSteps'],
    ['budget.maxTurns', 'budget.maxSteps'],
  ])('%s gets the advice to write %s', async ([path, meant]) => {
    const [first = '', second] = path.split('.');
    const value = second === undefined ? 'x' : { [second]: 'x' };
    const text = JSON.stringify({ name: 'a', [first]: value });
    const [problem] = await problemsOf(() => parse('a.json', text));
    expect(problem).toMatchObject({ key: path, expected: 'a known key', advice: `Did you mean ${meant}?` });
  });

  test.for(['color', 'hooks', 'x', 'constructor', '__proto__', 'k'.repeat(1_000)])(
    '%s is similar to no known key, so the advice lists all keys',
    async (key) => {
      const [problem] = await problemsOf(() => parse('a.json', `{"name":"a","${key}":1}`));
      expect(problem?.advice).toMatch(/^Known keys: name, version, .*; put your own data under metadata\.$/);
      expect(problem?.found.length).toBeLessThan(200);
    },
  );
});

test('every example in the advice is valid', async () => {
  const advice = async (json: string): Promise<string> => {
    const problems = await problemsOf(() => parse('a.json', json));
    return problems.map((problem) => problem.advice).join();
  };
  const keysOf = (text: string): string[] => /^Known keys: ([^.;]*)/.exec(text)?.[1]?.split(', ') ?? [];
  const exampleIn = (text: string): string => /^For example (.*?)\.(?: Omit.*)?$/.exec(text)?.[1] ?? '';

  const top = keysOf(await advice('{"name":"a","zzz":1}'));
  expect(top).toHaveLength(12);
  for (const key of top.filter((name) => name !== 'name')) {
    const example = exampleIn(await advice(`{"name":"a","${key}":5}`));
    expect(parse('a.json', `{"name":"a",${example}}`)).toHaveProperty(
      key === 'model' ? 'llmConfig.model' : key,
    );
  }
  for (const group of ['llmConfig', 'budget'] as const) {
    const keys = keysOf(await advice(`{"name":"a","${group}":{"zzz":1}}`));
    expect(keys).toHaveLength(group === 'budget' ? 5 : 11);
    for (const key of keys) {
      const example = exampleIn(await advice(`{"name":"a","${group}":{"${key}":[[]]}}`));
      expect(parse('a.json', `{"name":"a","${group}":{${example}}}`)).toHaveProperty([group, key]);
    }
  }
});

test('all problems of a file are reported, in the order of its lines', async () => {
  const text = md('color: red\ntools: [1, b, 2]\nbudget: {maxStep: 1, maxSteps: x}\nversion: 2').replace(
    'Hi',
    '',
  );
  const problems = await problemsOf(() => parse('a.md', text));
  expect(problems.map(({ line, key }) => [line, key])).toEqual([
    [2, 'color'],
    [3, 'tools[0]'],
    [3, 'tools[2]'],
    [4, 'budget.maxStep'],
    [4, 'budget.maxSteps'],
    [5, 'version'],
    [undefined, 'name'],
    [undefined, 'systemPrompt'],
  ]);
  expect(await messageOf('a.md', text)).toMatch(
    /^8 problems in agent definitions:\n {2}a\.md:2:1: color: expected/,
  );
});
