import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AgentState } from '@holdfast/core';
import { isTrace, nextAction } from '@holdfast/core/engine';
import { expectRoundTrip } from '../../support/arbitraries.ts';
import { goldenStates } from '../../golden/golden-states.ts';
import { goldenFolder, writeGolden } from '../../golden/write-golden.ts';

const folder = fileURLToPath(new URL('../../golden/v1/', import.meta.url));
const files = (await readdir(folder)).toSorted();
const documentOf = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));

const outcomes = (state: AgentState): unknown[] =>
  (state.currentStep ?? state.lastStep)?.toolExecutions.map(({ outcome }) => outcome?.type) ?? [];
const types = (state: AgentState): unknown[] => state.steps.map(({ type }) => type);

/** The expected state of each file. */
const facts: Readonly<Record<string, (state: AgentState) => void>> = {
  fresh: (state) => {
    expect([state.status, state.executionCount, state.messages.length, nextAction(state).type]).toEqual([
      undefined,
      0,
      0,
      'start',
    ]);
    expect([state.createdAt, state.updatedAt]).toEqual([
      Date.UTC(2026, 10, 21, 12),
      Date.UTC(2026, 10, 21, 12),
    ]);
  },
  'session-data': (state) => {
    expect([state.systemPrompt, state.messages.length, state.status]).toEqual(['Be brief.', 1, undefined]);
    expect(state.metadata.get('customer')).toEqual({ id: '9007199254740993', tags: [] });
    expect(state.metadata.get('__proto__')).toBe('kept');
    expect(state.llmConfig).toEqual({
      model: 'openai:gpt-5',
      temperature: 0,
      stopSequences: ['END'],
      providerOptions: { openai: { store: false } },
    });
    expect(state.responseFormat).toEqual({ type: 'json', name: 'answer', schema: { type: 'object' } });
  },
  pending: (state) =>
    expect([state.status, state.executionCount, state.stepCount, nextAction(state).type]).toEqual([
      'pending',
      0,
      0,
      'start',
    ]),
  'mid-step': (state) => {
    expect([state.status, state.stepCount, state.steps.length, state.executionCount]).toEqual([
      'inProgress',
      1,
      0,
      1,
    ]);
    expect(outcomes(state)).toEqual(['succeeded', undefined]);
    expect(state.currentStep?.toolExecutions.map(({ args, value }) => [args, value])).toEqual([
      [{ a: 2, b: 2 }, 4],
      [{ a: 3, b: 3 }, undefined],
    ]);
    expect(state.currentStep?.input.toArray()).toEqual(state.messages.toArray());
    expect(state.usage.toJSON()).toEqual({
      inputTokens: 120,
      outputTokens: 30,
      cacheReadTokens: 100,
      cost: 0.0015,
    });
  },
  completed: (state) => {
    expect([state.status, state.finalResponse, state.stepCount]).toEqual(['completed', 'It is 4.', 2]);
    expect(types(state)).toEqual(['toolExecution', 'finalResponse']);
    expect(state.steps[0]?.toolExecutions.map(({ value }) => value)).toEqual([4, 6]);
    expect(state.messages.toArray().map((message) => [message.role, isTrace(message)])).toEqual([
      ['user', false],
      ['assistant', true],
      ['tool', true],
      ['assistant', false],
    ]);
    expect([state.usage.totalTokens, state.cost, state.execution?.workedSeconds]).toEqual([300, 0.003, 1.25]);
    expect(state.lastStep?.input.toArray()).toEqual(state.messages.slice(0, 3));
    expect(state.lastStepExecution?.duration).toBe(0.5);
  },
  'between-executions': (state) =>
    expect([state.status, state.executionCount, state.messages.length]).toEqual([undefined, 1, 2]),
  'several-executions': (state) => {
    expect([state.status, state.executionCount, state.stepCount, state.messages.length]).toEqual([
      'completed',
      2,
      1,
      6,
    ]);
    expect([state.finalResponse, state.usage.unreportedCalls]).toEqual(['It is 6.', 1]);
  },
  suspended: (state) => {
    expect([state.status, nextAction(state).type, state.execution?.completedAt]).toEqual([
      'suspended',
      'wait',
      undefined,
    ]);
    const [asked, running] = state.currentStep?.toolExecutions ?? [];
    expect([asked?.isAwaitingApproval, asked?.isRunning, running?.isRunning]).toEqual([true, false, true]);
    expect(state.execution?.waiting).toEqual([
      { type: 'approval', toolExecutionId: asked?.id },
      { type: 'child', sessionId: 'orders/7/child', toolExecutionId: running?.id },
    ]);
  },
  approved: (state) => {
    const [approved, denied] = state.currentStep?.toolExecutions ?? [];
    expect([approved?.isAwaitingApproval, approved?.startedAt, approved?.outcome]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect([approved?.args, approved?.approval?.decision]).toMatchObject([
      { a: 1, b: 1 },
      { type: 'approved', by: 'ann@example.com', reason: 'Small sum.' },
    ]);
    expect([denied?.outcome?.type, denied?.error, denied?.duration]).toMatchObject([
      'denied',
      { code: 'TOOL_DENIED', message: 'Too much.' },
      0,
    ]);
    expect(state.currentStep?.executedToolCalls).toEqual([]);
  },
  progress: (state) => {
    expect(state.lastToolExecution).toMatchObject({ isRunning: true, progress: { parcels: [1, 2] } });
    expect(state.usage.toJSON()).toEqual({
      inputTokens: 247,
      outputTokens: 60,
      cacheReadTokens: 200,
      cost: 0.003,
      unreportedCalls: 1,
      unpricedCalls: 1,
    });
  },
  'suspended-until': (state) =>
    expect(state.execution?.waiting).toEqual([{ type: 'until', until: state.updatedAt + 60_000 }]),
  stopped: (state) => {
    expect([state.status, state.stopReason, state.execution?.continuation.signals.length]).toEqual([
      'stopped',
      'stepsLimitReached',
      2,
    ]);
    expect(state.stopSignal).toEqual({
      reason: 'stepsLimitReached',
      message: '1 of 1 steps taken.',
      context: { limit: 1 },
      source: 'stepsLimit',
    });
  },
  overruled: (state) => {
    expect([state.status, state.shouldStop, state.lastStepExecution?.continuation.isRequested]).toEqual([
      'inProgress',
      false,
      true,
    ]);
    expect([
      state.execution?.continuation.overruledSignals,
      state.execution?.continuation.hasNewSignals,
    ]).toEqual([1, false]);
  },
  failed: (state) => {
    expect([state.status, ...types(state), state.messages.length]).toEqual(['failed', 'error', 1]);
    expect(state.errors).toEqual([
      {
        name: 'Error',
        message: 'The model did not answer.',
        code: 'DRIVER_FAILED',
        data: { status: 503 },
        cause: { name: 'Error', message: 'socket hang up', code: 'ECONNRESET' },
      },
      { name: 'Error', message: 'and a hook' },
    ]);
    expect([state.lastStep?.text, state.lastStep?.response?.rawFinishReason]).toEqual([
      'partly',
      'overloaded',
    ]);
  },
  outcomes: (state) => {
    expect(outcomes(state)).toEqual(['succeeded', 'succeeded', 'failed', 'blocked', 'denied', 'interrupted']);
    expect([
      state.lastStepType,
      state.lastStep?.requestedToolCalls.length,
      state.lastStep?.executedToolCalls.length,
    ]).toEqual(['error', 7, 4]);
    expect(state.lastStep?.toolExecutions.map(({ value }) => value)).toEqual([
      'text',
      { rows: [1, 2] },
      ...Array<undefined>(4),
    ]);
    expect(state.errors.map(({ code }) => code)).toEqual([
      'TOOL_FAILED',
      'TOOL_BLOCKED',
      'TOOL_DENIED',
      'TOOL_INTERRUPTED',
    ]);
    expect(state.messages.last?.content.map((part) => 'output' in part && part.output.type)).toEqual([
      'text',
      'text',
      'error-text',
      'execution-denied',
      'execution-denied',
      'error-text',
      'error-text',
    ]);
  },
  retried: (state) =>
    expect([state.lastToolExecution?.attempt, state.lastToolExecution?.isRunning]).toEqual([2, true]),
  'aborted-step': (state) => {
    expect([state.status, state.hasFinalResponse, state.currentResponse, state.stopReason]).toEqual([
      'stopped',
      false,
      'It i',
      'userRequested',
    ]);
  },
  'every-part': (state) => {
    const [asked, answered] = state.messages.toArray();
    expect(asked?.content.map((part) => ('data' in part ? part.data.type : part.type))).toEqual([
      'text',
      'data',
      'url',
      'reference',
      'text',
    ]);
    expect([asked?.metadata, JSON.stringify(asked?.providerOptions)]).toEqual([
      { channel: 'web' },
      '{"z":1,"a":{"y":1,"x":2}}',
    ]);
    expect(answered?.content.map(({ type }) => type)).toEqual([
      'reasoning',
      'text',
      'source',
      'tool-call',
      'tool-result',
      'file',
      'reasoning-file',
      'tool-result',
      'custom',
    ]);
    expect(answered?.content[0]?.providerOptions).toEqual({ anthropic: { signature: 'c2lnbmF0dXJl' } });
    expect(state.lastStep?.response).toMatchObject({
      modelId: 'gpt-5-2026',
      responseId: 'resp_1',
      providerMetadata: { openai: { tier: 'flex' } },
    });
    expect([state.lastStepType, state.finalResponse]).toEqual(['finalResponse', 'Found it.']);
  },
  'odd-answers': (state) => {
    const [answer] = state.lastStep?.output ?? [];
    expect([nextAction(state).type, outcomes(state)]).toEqual(['beginStep', ['failed', 'succeeded']]);
    expect(answer?.content.map((part) => ('toolName' in part ? part.toolName : part.type))).toEqual([
      'reasoning',
      'text',
      'math.add/größe',
      'add',
    ]);
    expect(state.lastStep?.fingerprint).toBeUndefined();
  },
  sections: (state) => {
    expect(state.store.names).toEqual(['messages', 'summary', '', '__proto__']);
    expect([
      state.messages.length,
      state.store.section('').length,
      state.store.section('__proto__').length,
    ]).toEqual([1, 1, 0]);
    expect(state.lastStep?.input.toArray().map(({ role }) => role)).toEqual([
      'assistant',
      'user',
      'user',
      'assistant',
      'tool',
    ]);
    expect(state.steps[0]?.output.map(({ role }) => role)).toEqual(['assistant', 'tool']);
    expect(state.steps[0]?.toolExecutions[0]?.value).toBe(4);
  },
};

test('every golden file has its facts, and every state its file', () => {
  const names = Object.keys(facts)
    .map((name) => `${name}.json`)
    .toSorted();
  expect(files).toEqual(names);
  expect(
    Object.keys(goldenStates)
      .map((name) => `${name}.json`)
      .toSorted(),
  ).toEqual(names);
});

test.for(Object.entries(facts))('v1/%s.json', async ([name, check]) => {
  const document = await documentOf(name);
  const state = AgentState.fromJSON(document);
  check(state);
  expectRoundTrip(state);
  assert.deepStrictEqual(JSON.parse(JSON.stringify(state)), document);
});

test('the states that the files were made from are still what is in them', async () => {
  for (const [name, make] of Object.entries(goldenStates))
    assert.deepStrictEqual(AgentState.fromJSON(await documentOf(name)), make());
});

test('a golden file that exists is never written again', async () => {
  expect(goldenFolder).toBe(folder);
  const other = await mkdtemp(join(tmpdir(), 'holdfast-golden-'));
  try {
    await writeFile(join(other, 'fresh.json'), 'as it was');
    const written = await writeGolden(other);
    expect(written).toEqual(Object.keys(goldenStates).filter((name) => name !== 'fresh'));
    expect(await readFile(join(other, 'fresh.json'), 'utf8')).toBe('as it was');
    expect(await writeGolden(other)).toEqual([]);
  } finally {
    await rm(other, { recursive: true });
  }
});
