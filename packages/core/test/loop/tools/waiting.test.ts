import assert from 'node:assert/strict';
import {
  AgentState,
  createAgentLoop,
  pendingApprovals,
  subagent,
  tool,
  ToolExecution,
  type AgentLoop,
  type JsonObject,
  type ToolCallPart,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { applyOutcome, ExecutionId, nextAction, StepId, withDecision } from '@holdfast/core/engine';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { expectSound, told } from '../../support/builders.ts';

const at = 1_000;
const call: ToolCallPart = { type: 'tool-call', toolCallId: '1', toolName: 'backup', input: {} };
/** The document of some agent, suspended: what a tool may well keep as its progress. */
const someAgent = JSON.parse(
  JSON.stringify(
    AgentState.empty({ at })
      .withExecutionStatus('inProgress', at)
      .withExecutionStatus('suspended', at, [{ type: 'input' }]),
  ),
) as JsonObject;

/** A state in which a process has left a running call with this progress. */
function left(progress: JsonObject): AgentState {
  const begun = applyOutcome(told(), { type: 'started', executionId: ExecutionId.create(), at });
  const open = applyOutcome(begun, { type: 'stepBegun', stepId: StepId.create(), input: begun.messages, at });
  const response = InferenceResponse.of({ content: [call] });
  const toolExecution = ToolExecution.start(call, at).withProgress(progress);
  return applyOutcome(applyOutcome(open, { type: 'inferred', response, at }), {
    type: 'toolsAdvanced',
    toolExecutions: [toolExecution],
    at,
  });
}

describe('a tool whose progress looks like the state of a suspended agent', () => {
  const state = expectSound(left(someAgent));

  test('is not a subagent: after a crash its call is resolved as that of any tool', () => {
    expect(state.currentStep?.toolExecutions[0]?.waitingInside).toEqual([]);
    expect(nextAction(state).type).toBe('resolveTools');
  });

  test('does not prevent the end of the run', async () => {
    const backup = tool({
      name: 'backup',
      description: 'Backs up.',
      inputSchema: { type: 'object' },
      execute: () => 1,
    });
    const loop = createAgentLoop({ driver: scriptedDriver('Done.'), tools: [backup] });
    const ended = await loop.run(state);
    expect([ended.status, ended.finalResponse, ended.steps[0]?.toolExecutions[0]?.outcome?.type]).toEqual([
      'completed',
      'Done.',
      'interrupted',
    ]);
  });
});

describe('a subagent that waits for a decision', () => {
  const mail = tool({
    name: 'mail',
    description: 'Mails.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    approvalTimeoutSeconds: 60,
    execute: () => 'sent',
  });
  const caller = (): AgentLoop => {
    const child = createAgentLoop({
      clock: steppedClock(5_000),
      driver: scriptedDriver({ calls: { mail: {} } }, 'Mailed.'),
      tools: [mail],
    });
    const agent = subagent({ name: 'agent', description: 'Helps.', loop: child });
    return createAgentLoop({
      clock: steppedClock(9_000),
      driver: scriptedDriver({ calls: { agent: { prompt: 'Mail Ann.' } } }, 'Done.'),
      tools: [agent],
    });
  };
  const suspended = async (loop = caller()): Promise<AgentState> => expectSound(await loop.run(told()));
  const callOf = (state: AgentState): ToolExecution => state.currentStep?.toolExecutions[0] as ToolExecution;

  test('stores its waiting entries in its call, in a document of version 2', async () => {
    const state = await suspended();
    expect(callOf(state).waitingInside.map(({ type }) => type)).toEqual(['approval', 'until']);
    expect(state.execution?.waiting).toEqual(callOf(state).waitingInside);
    expect(state.toJSON()).toMatchObject({ version: 2 });
  });

  test('stops waiting after the decision, and continues inside the call', async () => {
    const loop = caller();
    const state = await suspended(loop);
    const [asked] = pendingApprovals(state);
    const decided = expectSound(
      await withDecision(
        state,
        { toolExecutionId: asked?.id as string, decision: 'approved' },
        undefined,
        9_900,
      ),
    );
    expect([callOf(decided).waitingInside, nextAction(decided).type]).toEqual([[], 'resolveTools']);
    const ended = expectSound(await loop.run(decided));
    expect([ended.status, ended.steps[0]?.toolExecutions[0]?.value]).toEqual(['completed', 'Mailed.']);
    expect(ended.steps[0]?.toolExecutions[0]?.waitingInside).toEqual([]);
    expect(ended.toJSON()).toMatchObject({ version: 1 });
  });

  /** As a release of version 1 has written it. */
  const asVersion1 = (state: AgentState): JsonObject =>
    JSON.parse(JSON.stringify({ ...state.toJSON(), version: 1 }), (name, value: unknown) =>
      name === 'waitingInside' ? undefined : value,
    ) as JsonObject;

  test('is read from a document of version 1, by its progress', async () => {
    const state = await suspended();
    assert.deepStrictEqual(AgentState.fromJSON(asVersion1(state)), state);
  });

  test('is not read as waiting where the execution of version 1 does not wait for it', async () => {
    const { waiting: _, ...execution } = asVersion1(await suspended())['execution'] as JsonObject;
    const crashed = AgentState.fromJSON({
      ...asVersion1(await suspended()),
      execution: { ...execution, status: 'inProgress' },
    });
    expect([callOf(crashed).waitingInside, nextAction(crashed).type]).toEqual([[], 'resolveTools']);
    const other = asVersion1(await suspended());
    const elsewhere = [{ type: 'input' }];
    const state = AgentState.fromJSON({
      ...other,
      execution: { ...(other['execution'] as JsonObject), waiting: elsewhere },
    });
    expect(callOf(state).waitingInside).toEqual([]);
  });

  test('that was resumed by version 1 waits again without another request', async () => {
    const loop = caller();
    const { waiting: _, ...execution } = asVersion1(await suspended(loop))['execution'] as JsonObject;
    const crashed = AgentState.fromJSON({
      ...asVersion1(await suspended()),
      execution: { ...execution, status: 'inProgress' },
    });
    const again = expectSound(await loop.run(crashed));
    expect([again.status, pendingApprovals(again).length]).toEqual(['suspended', 1]);
  });
});
