import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentDefinition, AgentSession, ExecutionBudget, type AgentDefinition } from '@holdfast/core';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { definitions, expectDeeplyFrozen, START as T } from '../support/arbitraries.ts';

const full: Required<AgentDefinition> = {
  name: 'writer',
  version: '2',
  description: 'Writes.',
  label: 'Writer',
  systemPrompt: 'Write.',
  llmConfig: { model: 'openai:gpt-5', temperature: 0.5 },
  tools: ['search', 'read'],
  toolsDeny: ['read'],
  capabilities: { summary: { maxTokens: 8_000 }, memory: {} },
  budget: { maxSteps: 20, maxTokens: 10_000, maxSeconds: 60, maxCost: 0.5, deadline: T },
  metadata: { team: 'docs' },
};
const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('agentDefinition returns a frozen copy with a fixed member order', () => {
  const init = Object.fromEntries(Object.entries(full).toReversed()) as unknown as AgentDefinition;
  const definition = agentDefinition(init);
  expect(definition).toEqual(full);
  expect(Object.keys(definition)).toEqual(Object.keys(full));
  expectDeeplyFrozen(definition);
  expect(Object.isFrozen(init)).toBe(false);
  expect(Object.isFrozen(full.tools)).toBe(false);
});

test('a session and its document preserve every definition', () => {
  fc.assert(
    fc.property(definitions, (init) => {
      const definition = agentDefinition(init);
      expectDeeplyFrozen(definition);
      assert.deepStrictEqual(agentDefinition(definition), definition);
      const session = AgentSession.create({ definition, at: T });
      const restored = AgentSession.fromJSON(jsonOf(session));
      assert.deepStrictEqual(restored.definition, definition);
      expect(JSON.stringify(restored)).toBe(JSON.stringify(session));
      expectDeeplyFrozen(restored.definition);
    }),
    cases(300),
  );
});

test.for<[string, Partial<AgentDefinition>]>([
  ['no tools', { tools: [] }],
  ['nothing denied', { toolsDeny: [] }],
  ['no capabilities', { capabilities: {} }],
  ['no limits', { budget: {} }],
])('%s is not the same as not saying so', ([, part]) => {
  const definition = agentDefinition({ name: 'a', ...part });
  expect(definition).toEqual({ name: 'a', ...part });
  expect(AgentSession.fromJSON(jsonOf(AgentSession.create({ definition }))).definition).toEqual(definition);
});

test('a definition accepts an ExecutionBudget as its budget', () => {
  const { budget } = agentDefinition({ name: 'a', budget: ExecutionBudget.of({ maxSteps: 3 }) });
  expect(budget).toEqual({ maxSteps: 3 });
  expect(ExecutionBudget.of(budget ?? {}).remaining({ steps: 1 }).maxSteps).toBe(2);
});

test.for([{ maxSteps: Infinity, maxTokens: 5 }, ExecutionBudget.of({ maxSteps: Infinity, maxTokens: 5 })])(
  'unlimited steps survive JSON: %j',
  (budget) => {
    const definition = agentDefinition({ name: 'a', budget });
    expect(definition.budget).toEqual({ maxSteps: Number.MAX_SAFE_INTEGER, maxTokens: 5 });
    const restored = AgentSession.fromJSON(jsonOf(AgentSession.create({ definition }))).definition;
    expect(restored).toEqual(definition);
    expect(ExecutionBudget.of(restored.budget ?? {}).maxSteps).toBe(Infinity);
  },
);

test('names of a definition cannot change a prototype', () => {
  const init: unknown = JSON.parse('{"name":"__proto__","capabilities":{"__proto__":{"polluted":true}}}');
  const { capabilities } = agentDefinition(init as AgentDefinition);
  expect(Object.keys(capabilities ?? {})).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(capabilities)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('an invalid definition is refused with the path of its invalid value', () => {
  test.for<[path: string, found: string, part: object]>([
    ['$.name', 'string ""', { name: '' }],
    ['$.name', 'nothing', { name: undefined }],
    ['$.name', 'number 5', { name: 5 }],
    ['$.version', 'number 1', { version: 1 }],
    ['$.version', 'string ""', { version: '' }],
    ['$.description', 'null', { description: null }],
    ['$.label', 'boolean true', { label: true }],
    ['$.systemPrompt', 'an array of 1', { systemPrompt: ['a'] }],
    ['$.llmConfig.topK', 'string "5"', { llmConfig: { topK: '5' } }],
    ['$.llmConfig.apiKey', 'string "x"', { llmConfig: { apiKey: 'x' } }],
    ['$.tools', 'string "a, b"', { tools: 'a, b' }],
    ['$.tools', 'null', { tools: null }],
    ['$.tools[1]', 'number 5', { tools: ['a', 5] }],
    ['$.tools[0]', 'string ""', { tools: [''] }],
    ['$.tools[2]', 'string "a"', { tools: ['a', 'b', 'a'] }],
    ['$.toolsDeny[1]', 'string "a"', { toolsDeny: ['a', 'a'] }],
    ['$.capabilities', 'an array of 1', { capabilities: ['memory'] }],
    ['$.capabilities', 'an object', { capabilities: { '': {} } }],
    ['$.capabilities.memory', 'boolean true', { capabilities: { memory: true } }],
    ['$.capabilities["a b"]', 'null', { capabilities: { 'a b': null } }],
    ['$.budget.maxSteps', 'number -1', { budget: { maxSteps: -1 } }],
    ['$.budget.maxCost', 'null', { budget: { maxCost: Infinity } }],
    ['$.budget.deadline', 'string "2026-11-21T00:00:00.000Z"', { budget: { deadline: new Date(T) } }],
    ['$.budget.deadline', 'number 0.5', { budget: { deadline: 0.5 } }],
    ['$.budget.maxStep', 'number 1', { budget: { maxStep: 1 } }],
    ['$.metadata', 'an array of 0', { metadata: [] }],
    ['$.color', 'string "red"', { color: 'red' }],
  ])('%s: %s', ([path, found, part]) => {
    const init = { name: 'a', ...part } as AgentDefinition;
    const refusal = expect.objectContaining({
      code: 'CONTEXT_INVALID',
      data: expect.objectContaining({ path, found }),
    });
    expect(() => agentDefinition(init)).toThrow(refusal);
    expect(() => AgentSession.create({ definition: init })).toThrow(refusal);
  });

  test('an invalid definition in a stored session is refused too', () => {
    const document = AgentSession.create({ definition: full }).toJSON() as unknown as {
      definition: Record<string, unknown>;
    };
    const broken = { ...document, definition: { ...document.definition, tools: ['a', 'a'] } };
    expect(() => AgentSession.fromJSON(jsonOf(broken))).toThrow(
      expect.objectContaining({ code: 'STATE_FORMAT', path: '$.definition.tools[1]' }),
    );
  });
});
