import {
  answer,
  answerError,
  approve,
  deny,
  pendingApprovals,
  pendingQuestions,
  sendMessage,
  tool,
  type AgentSession,
  type SessionAction,
  type ToolExecution,
} from '@holdfast/core';
import { applySavePlan, planSave, restoreSession } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { call, definition, settled, world } from '../../support/durable-world.ts';

const ask = tool({ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } });
const asks = { calls: [['ask', {}]] } as const;
const closedCall = ({ state }: AgentSession): ToolExecution | undefined => state.steps[0]?.toolExecutions[0];

/** A process that has saved nothing of the session reads it from its stored parts. */
const readAgain = (session: AgentSession): AgentSession =>
  restoreSession(applySavePlan(undefined, planSave(session)), session.info, session.revision.incarnation);

const DECISIONS: readonly (readonly [string, (call: ToolExecution) => SessionAction, string])[] = [
  ['approved', (pending) => approve(pending, { by: 'ann', reason: 'It is cheap.' }), 'succeeded'],
  ['denied', (pending) => deny(pending, { by: 'ann', reason: 'It is dear.' }), 'denied'],
  [
    'approved',
    (pending) => approve(pending, { by: 'ann', reason: 'Less.', input: { amount: 1 } }),
    'succeeded',
  ],
];

describe('a closed call keeps who decided, why and when', () => {
  test.each(DECISIONS)('%s', async (type, decide, outcome) => {
    const made = world({ needsApproval: true });
    const runtime = made.process([call(5), 'Done.']);
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Pay 5.'));
    const [pending] = pendingApprovals(waiting.state);
    if (!pending) throw new Error('nothing waits');
    made.clock.advance(500);
    const at = made.clock.now();
    const reason = expect.stringMatching(/^(It is cheap|It is dear|Less)\.$/) as string;
    const session = await runtime.execute(sessionId, decide(pending));
    for (const read of [session, await made.process([]).get(sessionId), readAgain(session)]) {
      expect([read.state.status, closedCall(read)?.outcome?.type]).toEqual(['completed', outcome]);
      expect(closedCall(read)?.approval).toEqual({
        requestedAt: pending.approval?.requestedAt,
        decision: { type, at, by: 'ann', reason },
      });
    }
  });

  test.each([['a decision', { type: 'decision', decision: 'approved', by: 'bob' }]] as const)(
    '%s from the inbox',
    async (_, content) => {
      const made = world({ needsApproval: true });
      const runtime = made.process([call(5), 'Done.']);
      const { sessionId } = await runtime.create({ definition });
      const waiting = await runtime.execute(sessionId, sendMessage('Pay 5.'));
      const toolExecutionId = pendingApprovals(waiting.state)[0]?.id ?? '';
      await runtime.enqueue(sessionId, { ...content, toolExecutionId });
      await runtime.advance(sessionId);
      expect(closedCall(await runtime.get(sessionId))?.approval?.decision?.by).toBe('bob');
    },
  );
});

const ANSWERS: readonly (readonly [string, (call: ToolExecution) => SessionAction, string])[] = [
  ['answered', (pending) => answer(pending, 'Oslo', { by: 'ann' }), 'succeeded'],
  ['answered with an error', (pending) => answerError(pending, 'No idea.', { by: 'ann' }), 'failed'],
];

test.each(ANSWERS)('a closed call that was %s keeps by whom and when', async (_, give, outcome) => {
  const made = world();
  const runtime = made.process([asks, 'Done.'], {}, { tools: [ask] });
  const { sessionId } = await runtime.create({ definition });
  const waiting = await runtime.execute(sessionId, sendMessage('Go.'));
  const [pending] = pendingQuestions(waiting.state);
  if (!pending) throw new Error('nothing waits');
  made.clock.advance(500);
  const at = made.clock.now();
  const session = await runtime.execute(sessionId, give(pending));
  for (const read of [session, await made.process([]).get(sessionId), readAgain(session)])
    expect([closedCall(read)?.outcome?.type, closedCall(read)?.answer]).toEqual([outcome, { at, by: 'ann' }]);
});

test('an approved call that is tried again keeps who approved it', async () => {
  let attempts = 0;
  const failed = deferred();
  const made = world({ needsApproval: true });
  const flaky = tool({
    name: 'flaky',
    description: 'Fails once.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    retry: { maxAttempts: 2, delaySeconds: 1 },
    execute: () => {
      failed.resolve();
      if (++attempts === 1) throw new Error('no luck');
      return 'done';
    },
  });
  const runtime = made.process([{ calls: { flaky: {} } }, 'Done.'], {}, { tools: [flaky] });
  const { sessionId } = await runtime.create({ definition });
  const waiting = await runtime.execute(sessionId, sendMessage('Go.'));
  const [pending] = pendingApprovals(waiting.state);
  const running = runtime.execute(sessionId, approve(pending?.id ?? '', { by: 'ann' }));
  await failed.promise;
  await settled();
  made.clock.advance(1_000);
  const session = await running;
  const closed = closedCall(session);
  expect([closed?.attempt, closed?.value, closed?.approval?.decision?.by]).toEqual([2, 'done', 'ann']);
});
