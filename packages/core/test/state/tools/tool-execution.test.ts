import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { AgentStep, ToolExecution, Usage } from '@holdfast/core';
import { expectDeeplyFrozen, START as T } from '../../support/arbitraries.ts';
import { addCall, throughText } from '../../support/step-parts.ts';

describe('a call that needs approval', () => {
  const asked = ToolExecution.create(addCall).withApprovalRequested(T);
  const by = { by: 'ann', reason: 'Because.' };

  test('requests approval once and waits', () => {
    expect([asked.isAwaitingApproval, asked.isRunning, asked.startedAt]).toEqual([true, false, undefined]);
    expect(asked.withApprovalRequested(T + 1)).toBe(asked);
    expect(asked.toResultPart().output).toEqual({ type: 'error-text', value: 'The call was not started.' });
  });
  test('can start after approval, also with other arguments', () => {
    const approved = asked.withDecision(
      { type: 'approved', at: T + 1, ...by },
      { ...addCall, input: { a: 2 } },
    );
    expect(approved).toMatchObject({ args: { a: 2 }, outcome: undefined, startedAt: undefined });
    expect(approved.approval).toEqual({
      requestedAt: T,
      decision: { type: 'approved', at: T + 1, ...by },
    });
    const started = approved.withStarted(T + 2);
    expect([started.isRunning, started.startedAt, started.withStarted(T + 3)]).toEqual([
      true,
      T + 2,
      started,
    ]);
    expectDeeplyFrozen(started);
    assert.deepStrictEqual(ToolExecution.fromJSON(throughText(started)), started);
  });
  test('is completed by a denial, with its reason', () => {
    const denied = asked.withDecision({ type: 'denied', at: T + 1, ...by });
    expect(denied).toMatchObject({ startedAt: undefined, completedAt: T + 1, duration: 0 });
    expect(denied.error).toEqual({ name: 'Error', code: 'TOOL_DENIED', message: 'Because.' });
    expect(denied.toResultPart().output).toEqual({ type: 'execution-denied', reason: 'Because.' });
    const silent = asked.withDecision({ type: 'denied', at: T });
    expect(silent.error?.message).toBe('The call was denied.');
    assert.deepStrictEqual(ToolExecution.fromJSON(throughText(denied)), denied);
  });
  test('counts its requests, and gives each a later instant than the request before', () => {
    const instants = [T + 5, T + 5, T - 1_000, T + 900];
    const executions = instants.reduce<readonly ToolExecution[]>(
      (before, at) => {
        const approved = before.at(-1)?.withDecision({ type: 'approved', at });
        return approved ? [...before, approved.withStarted(at).withApprovalRequested(at)] : before;
      },
      [asked],
    );
    expect(executions.map(({ approval }) => approval)).toEqual([
      { requestedAt: T },
      { requestedAt: T + 5, requestNumber: 2 },
      { requestedAt: T + 6, requestNumber: 3 },
      { requestedAt: T + 7, requestNumber: 4 },
      { requestedAt: T + 900, requestNumber: 5 },
    ]);
    for (const execution of executions) {
      expectDeeplyFrozen(execution);
      assert.deepStrictEqual(ToolExecution.fromJSON(throughText(execution)), execution);
    }
  });
  test.each([1, 0, 1.5, '2', null])('refuses %j as the number of a request', (requestNumber) => {
    const approval = { requestedAt: T, requestNumber };
    expect(() => ToolExecution.fromJSON({ ...asked.toJSON(), approval })).toThrow(
      expect.objectContaining({ code: 'STATE_FORMAT', path: '$.approval.requestNumber' }),
    );
  });
  test('accepts one decision, and only after a request', () => {
    const approved = asked.withDecision({ type: 'approved', at: T + 1 });
    expect(approved.withDecision({ type: 'denied', at: T + 2 })).toBe(approved);
    const unasked = ToolExecution.create(addCall);
    expect(unasked.withDecision({ type: 'approved', at: T })).toBe(unasked);
    expect(() => asked.withDecision({ type: 'maybe' as 'denied', at: T })).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  });
});

test('usage and progress of a tool stay over its attempts', () => {
  const first = ToolExecution.start(addCall, T).withUsage(known()).withProgress({ page: 3 });
  expect(first.withUsage(Usage.none)).toBe(first);
  expect(first.withProgress({ page: 3 })).toBe(first);
  const second = first.withUsage(known()).withNextAttempt(T + 5);
  expect([second.usage.inputTokens, second.progress, second.attempt]).toEqual([6, { page: 3 }, 2]);
  const step = AgentStep.create().withToolExecution(second);
  expect(step.usage.inputTokens).toBe(6);
  assert.deepStrictEqual(ToolExecution.fromJSON(throughText(second)), second);
  expect(() => first.withProgress(1n as never)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }));

  function known(): Usage {
    return Usage.of({ inputTokens: 3, outputTokens: 4, cost: 1 });
  }
});
