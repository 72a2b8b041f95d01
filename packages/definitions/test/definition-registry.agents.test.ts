import {
  AgentBuilder,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  summaries,
  tool,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { DefinitionRegistry } from '@holdfast/definitions';
import { expect, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';

const newFolder = temporaryFolders();

const WRITER = `---
name: writer
version: "1.0"
description: Writes and improves texts.
label: The writer
model: openai:gpt-5
llmConfig: { temperature: 0.2 }
tools: [search, publish, recall]
toolsDeny: [publish]
capabilities:
  summaries: { maxTokens: 200, model: openai:gpt-5 }
  memory: { fact: "Ada likes tea." }
budget: { maxSteps: 2, maxCost: 0.5, maxTokens: 100000, maxSeconds: 600, deadline: 2999-01-31T18:00:00+01:00 }
metadata: { team: docs }
---

You write well, and briefly.
`;
const named = (name: string, execute: () => unknown = () => expect.unreachable()) =>
  tool({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, execute });

test('an agent that is built from a Markdown file with all keys follows each of them', async () => {
  const registry = await DefinitionRegistry.load(await newFolder({ 'writer.md': WRITER }));
  const calls = (...names: string[]) => ({ calls: names.map((name) => [name, {}] as const) });
  const driver = scriptedDriver(calls('search', 'publish', 'recall'), 'A summary.', calls('search'));
  const builder = AgentBuilder.of({ driver, prices: { 'gpt-5': { input: 1000, output: 2000 } } })
    .withTools(
      named('search', () => 'found '.repeat(200)),
      named('publish'),
      named('read'),
    )
    .withCapabilityFactories({
      summaries: ({ maxTokens, model }) =>
        summaries({ maxTokens: maxTokens as number, llmConfig: { model: model as string } }),
      memory:
        ({ fact }) =>
        (before) =>
          before.withTools(named('recall', () => fact)),
      unused: () => () => expect.unreachable(),
    });
  const runtime = new SessionRuntime({
    store: new MemorySessionStore(),
    agents: ({ definition }) => builder.build(definition),
  });
  const { sessionId } = await runtime.create({ definition: registry.get('writer') });
  const { state } = await runtime.execute(sessionId, sendMessage('Write a haiku. '.repeat(100)));

  const [first, summary, second] = driver.requests;
  for (const request of [first, second]) {
    expect(request).toMatchObject({
      systemPrompt: 'You write well, and briefly.',
      llmConfig: { model: 'openai:gpt-5', temperature: 0.2 },
      tools: [{ name: 'search' }, { name: 'recall' }],
    });
  }
  expect(summary?.tools).toEqual([]);
  expect(JSON.stringify(second?.messages)).toContain('A summary.');
  expect(state.steps[0]?.toolExecutions.map(({ name, outcome }) => [name, outcome?.type])).toEqual([
    ['search', 'succeeded'],
    ['publish', 'failed'],
    ['recall', 'succeeded'],
  ]);
  expect(JSON.stringify(state.steps[0]?.toolExecutions[2])).toContain('Ada likes tea.');
  expect([state.stepCount, state.stopReason, state.status]).toEqual([2, 'stepsLimitReached', 'stopped']);
  expect(state.cost).toBeCloseTo(0.06);
  expect(state.metadata.values).toEqual({ team: 'docs' });
  driver.assertComplete();
});
