import assert from 'node:assert/strict';
import {
  approve,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  textOf,
  tool,
  type AgentSession,
  type AgentState,
  type Message,
} from '@holdfast/core';
import {
  applySavePlan,
  planSave,
  restoreSession,
  type SessionContent,
  type SavePlan,
} from '@holdfast/core/store';
import type { ToolResultPart } from '@holdfast/core/driver';
import { scriptedDriver, steppedClock, type ScriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { expectPaired } from '../../support/builders.ts';

const anything = { type: 'object', properties: {} } as const;
const shown = (messages: Iterable<Message>): string[] =>
  [...messages].map((message) =>
    message.role === 'tool'
      ? message.content.map(resultOf).join(' | ')
      : `${message.role}: ${textOf(message)}`,
  );

function resultOf({ output }: ToolResultPart): string {
  return output.type === 'text' || output.type === 'error-text' ? output.value : output.type;
}

interface World {
  readonly runtime: SessionRuntime;
  readonly driver: ScriptedDriver;
  readonly store: MemorySessionStore;
  readonly sessionId: string;
  readonly waiting: AgentSession;
}

/** A session in which a payment was made, and a mail waits for approval. */
async function paid(): Promise<World> {
  const driver = scriptedDriver({ calls: { pay: {}, mail: {} } }, 'Second turn.');
  const pay = tool({ name: 'pay', description: 'Pays.', inputSchema: anything, execute: () => 'paid 1' });
  const mail = tool({
    name: 'mail',
    description: 'Mails.',
    inputSchema: anything,
    needsApproval: true,
    execute: () => 'sent',
  });
  const store = new MemorySessionStore();
  const runtime = new SessionRuntime({
    store,
    agents: { a: createAgentLoop({ driver, tools: [pay, mail] }) },
  });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const waiting = await runtime.execute(sessionId, sendMessage('Pay the bill and mail Ann.'));
  return { runtime, driver, store, sessionId, waiting };
}

describe('an action that ends a waiting execution', () => {
  const ways: readonly (readonly [string, (state: AgentState) => AgentState])[] = [
    ['withFailure', (state) => state.withFailure(new Error('The operator gave up.'))],
    ['withExecutionCompleted', (state) => state.withExecutionCompleted()],
    ['withExecutionStatus', (state) => state.withExecutionStatus('stopped')],
    ['forNextExecution', (state) => state.forNextExecution()],
  ];
  test.for(ways)('by %s: the next turn includes the payment', async ([, end]) => {
    const { runtime, driver, sessionId } = await paid();
    const ended = await runtime.execute(sessionId, (session) => session.withState(end(session.state)));
    expect(ended.state.currentStep).toBeUndefined();
    const next = await runtime.execute(sessionId, sendMessage('And?'));
    expect([next.state.status, next.state.finalResponse]).toEqual(['completed', 'Second turn.']);
    expect(shown(driver.requests[1]?.messages ?? [])).toEqual([
      'user: Pay the bill and mail Ann.',
      'assistant: ',
      'paid 1 | The call was not started.',
      'user: And?',
    ]);
    expectPaired(next.state.messages);
  });

  test('a fork of the session includes the payment, and a fork at an earlier step does not', async () => {
    const { runtime, sessionId } = await paid();
    const fork = await runtime.fork(sessionId);
    expect(shown(fork.state.messages)[2]).toBe('paid 1 | The call was not started.');
    const earlier = await runtime.fork(sessionId, { atStep: 0 });
    expect(shown(earlier.state.messages)).toEqual(['user: Pay the bill and mail Ann.']);
  });

  test('a later decision is refused', async () => {
    const { runtime, sessionId, waiting } = await paid();
    const [asked] = pendingApprovals(waiting.state);
    await runtime.execute(sessionId, (session) =>
      session.withState(session.state.withExecutionStatus('stopped')),
    );
    await expect(runtime.execute(sessionId, approve(asked?.id as string))).rejects.toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
    });
  });
});

describe('a stored session of version 1 whose execution ended with an open step', () => {
  /** What a store has of a session that a release before ended so. */
  async function stored(): Promise<{ readonly session: AgentSession; readonly saved: SessionContent }> {
    const { waiting } = await paid();
    const saved = applySavePlan(undefined, planSave(waiting));
    const head = JSON.parse(saved.head) as { document: { state: { updatedAt: number; execution: object } } };
    const { execution, updatedAt } = head.document.state;
    const { waiting: _, ...rest } = execution as { readonly waiting: unknown };
    head.document.state.execution = { ...rest, status: 'stopped', completedAt: updatedAt };
    return { session: waiting, saved: { ...saved, head: JSON.stringify(head) } };
  }

  const read = ({ session, saved }: Awaited<ReturnType<typeof stored>>): AgentSession =>
    restoreSession(saved, session.info, session.revision.incarnation);

  test('is read with the step closed, with the same result by each reader', async () => {
    const kept = await stored();
    const session = read(kept);
    expect([session.state.status, session.state.steps.length, session.state.currentStep]).toEqual([
      'stopped',
      1,
      undefined,
    ]);
    expect(shown(session.state.messages)[2]).toBe('paid 1 | The call was not started.');
    assert.deepStrictEqual(read(kept), session);
  });

  test('is saved as a whole by the next save, so the store holds the repaired session', async () => {
    const { saved, session } = await stored();
    const repaired = read({ saved, session });
    const next = repaired
      .withState(repaired.state.withUserMessage('And?', { clock: steppedClock() }))
      .withRevision({ ...repaired.revision, version: repaired.version + 1 }, repaired.updatedAt);
    const plan: SavePlan = planSave(next, repaired);
    expect(plan.isWhole).toBe(true);
    const again = restoreSession(applySavePlan(saved, plan), next.info, next.revision.incarnation);
    assert.deepStrictEqual(again, next);
    const later = again
      .withState(again.state.withMetadata('a', 1))
      .withRevision({ ...again.revision, version: again.version + 1 }, again.updatedAt);
    expect(planSave(later, again).isWhole).toBe(false);
  });
});
