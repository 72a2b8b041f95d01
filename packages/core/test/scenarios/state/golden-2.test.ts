import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentState, pendingApprovals } from '@holdfast/core';
import { callMarksOf } from '@holdfast/core/driver';
import { nextAction } from '@holdfast/core/engine';
import { expect, test } from 'vitest';
import { expectRoundTrip } from '../../support/arbitraries.ts';
import { goldenStates2 } from '../../golden/golden-states-2.ts';
import { openGoldenFolder } from '../../golden/write-golden.ts';

const files = (await readdir(openGoldenFolder)).filter((name) => name.endsWith('.json')).toSorted();
const documentOf = async (name: string): Promise<object> =>
  JSON.parse(await readFile(join(openGoldenFolder, `${name}.json`), 'utf8'));

const SMALL = { model: 'openai:gpt-5-mini', temperature: 0 };
const LARGE = { model: 'openai:gpt-5' };

/** The expected state of each file. */
const facts: Readonly<Record<string, (state: AgentState) => void>> = {
  routed: (state) => {
    const small = { model: SMALL.model, llmConfig: SMALL, toolChoice: 'required' };
    expect(state.steps.map((step) => state.requestOf(step))).toEqual([
      small,
      small,
      { model: LARGE.model, llmConfig: LARGE, toolChoice: 'auto' },
      { model: 'openai:gpt-5-2026-08-07', llmConfig: LARGE, toolChoice: 'auto' },
    ]);
    expect(state.llmConfig).toEqual(LARGE);
  },
  'settings-changed': (state) => {
    const steps = [...state.steps, ...(state.currentStep ? [state.currentStep] : [])];
    expect(steps.map((step) => state.requestOf(step).llmConfig)).toEqual([LARGE, SMALL, undefined]);
    expect(state.llmConfig).toBeUndefined();
  },
  'context-limit': (state) => {
    expect(state.contextLimit).toEqual({ maxTokens: 6_000, model: LARGE.model });
  },
  'settings-added': (state) => {
    expect(state.steps.map((step) => state.requestOf(step).llmConfig)).toEqual([undefined]);
    expect(state.llmConfig).toEqual(SMALL);
  },
  'waits-inside': (state) => {
    const [execution] = state.currentStep?.toolExecutions ?? [];
    expect(execution?.waitingInside.map(({ type }) => type)).toEqual(['approval', 'until']);
    expect([state.status, execution?.isRunning, nextAction(state).type]).toEqual(['suspended', true, 'wait']);
    expect(state.execution?.waiting).toEqual(execution?.waitingInside);
  },
  'waits-for-answer': (state) => {
    const [execution] = state.currentStep?.toolExecutions ?? [];
    expect([state.status, execution?.isAwaitingAnswer, nextAction(state).type]).toEqual([
      'suspended',
      true,
      'wait',
    ]);
    expect(state.execution?.waiting).toEqual([
      { type: 'answer', toolExecutionId: execution?.id, until: Date.UTC(2026, 10, 23) },
    ]);
  },
  answered: (state) => {
    const [first, second] = state.currentStep?.toolExecutions ?? [];
    expect([first?.value, first?.answer]).toEqual([4, { at: expect.any(Number), by: 'ann' }]);
    expect([second?.isRunning, second?.answer]).toEqual([
      true,
      { at: expect.any(Number), outcome: { type: 'succeeded', value: 5 } },
    ]);
    expect(nextAction(state).type).toBe('resolveTools');
  },
  'asked-again': (state) => {
    const [execution] = state.currentStep?.toolExecutions ?? [];
    expect(execution?.approval).toEqual({ requestedAt: expect.any(Number), requestNumber: 2 });
    expect([state.status, execution?.isAwaitingApproval, execution?.attempt]).toEqual(['suspended', true, 2]);
  },
  judged: (state) => {
    const [first, second] = state.currentStep?.toolExecutions ?? [];
    expect([first?.args, first?.call.input, first?.isApproved]).toEqual([
      { a: 2, b: 2, base: 10 },
      { a: 2, b: 2 },
      true,
    ]);
    expect([second?.args, second?.approval?.requestNumber]).toEqual([{ a: 3, b: 2 }, 2]);
  },
  'provider-approvals': (state) => {
    const [first] = state.steps[0]?.toolExecutions ?? [];
    expect(first?.outcome).toEqual({ type: 'succeeded', value: { approved: true } });
    expect(pendingApprovals(state).map(({ call }) => callMarksOf(call))).toEqual([{ approvalId: 'mcpr_2' }]);
  },
};

test('every golden file of version 2 has its facts, and every state its file', () => {
  const names = Object.keys(facts).toSorted();
  expect(files).toEqual(names.map((name) => `${name}.json`));
  expect(Object.keys(goldenStates2).toSorted()).toEqual(names);
});

test.for(Object.entries(facts))('v2-open/%s.json', async ([name, check]) => {
  const document = await documentOf(name);
  expect(document).toMatchObject({ format: 'holdfast/agent-state', version: 2 });
  const state = AgentState.fromJSON(structuredClone(document));
  check(state);
  expectRoundTrip(state);
  assert.deepStrictEqual(JSON.parse(JSON.stringify(state)), document);
  assert.deepStrictEqual(state, goldenStates2[name]?.());
});

test.for(Object.keys(facts))('%s says what version 1 does not have, and is refused there', async (name) => {
  const older = { ...(await documentOf(name)), version: 1 };
  expect(() => AgentState.fromJSON(older)).toThrow(
    expect.objectContaining({ code: 'STATE_FORMAT', message: expect.stringContaining('before version 2') }),
  );
});
