import {
  AgentState,
  approve,
  createAgentLoop,
  deny,
  MemorySessionStore,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  type AgentSession,
  type Hook,
  type ToolCallPart,
} from '@holdfast/core';
import { callMarksOf, providerTool, withCallMarks, type ToolMessage } from '@holdfast/core/driver';
import { manualClock, scriptedDriver, type ScriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

/** Calls that a provider runs after a person has approved them. */

const requested: ToolCallPart = {
  type: 'tool-call',
  toolCallId: 'call_1',
  toolName: 'mcp.lookup',
  input: { page: 1 },
  providerExecuted: true,
};
const call = withCallMarks(requested, { approvalId: 'mcpr_1' });
const own: ToolCallPart = { type: 'tool-call', toolCallId: 'call_2', toolName: 'missing', input: {} };
const remote = providerTool({ name: 'docs', id: 'openai.mcp', approvalTimeoutSeconds: 60 });
const asked = AgentState.empty().withUserMessage('Look it up.');

function driverOf(...content: ToolCallPart[]): ScriptedDriver {
  return scriptedDriver({ content, finishReason: 'stop' }, 'It says 1.');
}

/** The result of the call as the next request has it. */
function resultIn(driver: ScriptedDriver): ToolMessage['content'][number] | undefined {
  const message = [...(driver.requests[1]?.messages ?? [])].findLast(({ role }) => role === 'tool');
  return message?.role === 'tool' ? message.content[0] : undefined;
}

/** A session that waits, and its driver. Each runtime is new, as in another process. */
async function waitingSession(hooks: readonly Hook[] = [], clock = manualClock(1_000)) {
  const driver = driverOf(call);
  const agents = { reader: createAgentLoop({ driver, tools: [remote], hooks, clock }) };
  const store = new MemorySessionStore({ clock });
  const runtime = () => new SessionRuntime({ store, agents, clock });
  const { sessionId } = await runtime().create({ definition: { name: 'reader' } });
  const session = await runtime().execute(sessionId, sendMessage('Look it up.'));
  return { driver, runtime, session, sessionId, clock };
}

function waitingIdOf({ state }: AgentSession): string {
  return pendingApprovals(state)[0]?.id ?? '';
}

describe('a call that the provider runs after an approval', () => {
  test('suspends the execution, in a document of version 2', async () => {
    const state = await createAgentLoop({ driver: driverOf(call), tools: [remote] }).run(asked);
    expect([state.status, pendingApprovals(state).map(({ name }) => name)]).toEqual([
      'suspended',
      ['mcp.lookup'],
    ]);
    const json = JSON.parse(JSON.stringify(state));
    expect(json.version).toBe(2);
    expect(AgentState.fromJSON(json)).toEqual(state);
  });

  test('is approved: the model continues with the approval, and no tool runs', async () => {
    const { driver, runtime, session, sessionId } = await waitingSession();
    const { state } = await runtime().execute(sessionId, approve(waitingIdOf(session), { by: 'ann' }));
    const result = resultIn(driver);
    expect([result?.toolCallId, result?.output, result && callMarksOf(result)]).toEqual([
      'call_1',
      { type: 'json', value: { approved: true } },
      { approvalId: 'mcpr_1' },
    ]);
    expect([state.status, state.finalResponse]).toEqual(['completed', 'It says 1.']);
    expect(state.steps[0]?.toolExecutions[0]?.outcome?.type).toBe('succeeded');
  });

  test('is denied with a reason', async () => {
    const { driver, runtime, session, sessionId } = await waitingSession();
    await runtime().execute(sessionId, deny(waitingIdOf(session), { reason: 'Not now.' }));
    expect(resultIn(driver)?.output).toEqual({ type: 'execution-denied', reason: 'Not now.' });
  });

  test('is denied after the timeout of its tool', async () => {
    const { driver, runtime, session, sessionId, clock } = await waitingSession();
    expect(session.state.execution?.waiting.map(({ type }) => type)).toEqual(['approval', 'until']);
    clock.advance(60_000);
    await runtime().advance(sessionId);
    expect(resultIn(driver)?.output.type).toBe('execution-denied');
  });

  test('is decided from the inbox', async () => {
    const { driver, runtime, session, sessionId } = await waitingSession();
    const toolExecutionId = waitingIdOf(session);
    await runtime().enqueue(sessionId, { type: 'decision', toolExecutionId, decision: 'approved' });
    await runtime().advance(sessionId);
    expect(resultIn(driver)?.output).toEqual({ type: 'json', value: { approved: true } });
  });

  test('may be blocked by a hook, which cannot change its arguments', async () => {
    const blocks: Hook = { beforeToolUse: () => ({ block: 'No lookups.' }) };
    const blocked = await waitingSession([blocks]);
    expect(resultIn(blocked.driver)?.output).toEqual({ type: 'execution-denied', reason: 'No lookups.' });
    const changes: Hook = { beforeToolUse: (changed) => ({ call: { ...changed, input: { page: 2 } } }) };
    const { session } = await waitingSession([changes]);
    expect(pendingApprovals(session.state)[0]?.args).toEqual({ page: 1 });
  });

  test('waits beside calls that the loop runs', async () => {
    const driver = driverOf(call, own);
    const state = await createAgentLoop({ driver, tools: [remote] }).run(asked);
    expect(state.currentStep?.toolExecutions.map(({ name, outcome }) => [name, outcome?.type])).toEqual([
      ['mcp.lookup', undefined],
      ['missing', 'failed'],
    ]);
  });

  test('has a result that states that it was not run, when the execution ends before a decision', async () => {
    const driver = driverOf(call);
    const loop = createAgentLoop({ driver, tools: [remote] });
    const waiting = await loop.run(asked);
    await loop.run(waiting.withExecutionStatus('stopped').withUserMessage('Never mind.'));
    expect(resultIn(driver)?.output.type).toBe('error-text');
  });
});
