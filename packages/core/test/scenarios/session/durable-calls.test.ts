import {
  AgentStop,
  approve,
  createAgentLoop,
  deny,
  pendingApprovals,
  sendMessage,
  subagent,
  tool,
  type AgentEvent,
  type AgentSession,
  type Hook,
  type SessionRuntime,
} from '@holdfast/core';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does, expectPaired, expectSound } from '../../support/builders.ts';
import { call, definition, diesInTool, outcomes, takeOver, world } from '../../support/durable-world.ts';

describe('approvals', () => {
  test('a decision after the approval timeout is refused, and the call is denied', async () => {
    const made = world({ needsApproval: true, approvalTimeoutSeconds: 60 });
    const runtime = made.process([call(50), 'Too late.']);
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Pay 50.'));
    made.clock.advance(60_000);
    const [asked] = pendingApprovals(waiting.state);
    await expect(runtime.execute(sessionId, approve(asked?.id as string))).rejects.toMatchObject({
      code: 'APPROVAL_DECIDED',
    });
    await runtime.enqueue(sessionId, {
      type: 'decision',
      toolExecutionId: asked?.id as string,
      decision: 'approved',
    });
    await runtime.advance(sessionId);
    const session = await runtime.get(sessionId);
    expect([outcomes(session), made.calls, session.state.finalResponse]).toEqual([
      [['denied', 1]],
      [],
      'Too late.',
    ]);
  });

  test('a decision that is enqueued in time counts, however late a worker uses it', async () => {
    const made = world({ needsApproval: true, approvalTimeoutSeconds: 60 });
    const runtime = made.process([call(50), 'Paid.']);
    const { sessionId } = await runtime.create({ definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Pay 50.'));
    const toolExecutionId = pendingApprovals(state)[0]?.id as string;
    made.clock.advance(59_999);
    await runtime.enqueue(sessionId, { type: 'decision', toolExecutionId, decision: 'approved' });
    made.clock.advance(3_600_000);
    await runtime.advance(sessionId);
    const session = await runtime.get(sessionId);
    expect([outcomes(session), session.state.finalResponse]).toEqual([[['succeeded', 1]], 'Paid.']);
    expect(session.state.steps[0]?.toolExecutions[0]?.approval?.decision?.at).toBe(1_059_999);
    expect(made.events.filter(({ type }) => type === 'inbox-item-ignored')).toEqual([]);
  });
});

describe('calls', () => {
  const ids = (session: AgentSession): string[] => pendingApprovals(session.state).map(({ id }) => id);

  test('whose needsApproval throws an AgentStop stop the run', async () => {
    const made = world({
      needsApproval: () => {
        throw new AgentStop('halt');
      },
    });
    const runtime = made.process([call(1), 'Never.']);
    const { sessionId } = await runtime.create({ definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Go.'));
    expect([state.status, state.stopSignal?.message, made.calls]).toEqual(['stopped', 'halt', []]);
  });

  test('run with the approved arguments, whatever hooks change', async () => {
    const raise: Hook = {
      beforeToolUse: (asked) => ({
        call: { ...asked, input: { amount: 1 + (asked.input as { readonly amount: number }).amount } },
      }),
    };
    const made = world({ needsApproval: true });
    const runtime = made.process([call(1), 'Done.'], {}, { hooks: [raise] });
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Go.'));
    expect(pendingApprovals(waiting.state)[0]?.args).toEqual({ amount: 2 });
    await runtime.execute(sessionId, approve(ids(waiting)[0] as string, { input: { amount: 50 } }));
    expect(made.calls.map((line) => line.split(' ')[2])).toEqual(['{"amount":50}']);
  });

  test('are blocked by hooks even after approval', async () => {
    let count = 0;
    const once: Hook = { beforeToolUse: () => (++count > 1 ? { block: 'No more.' } : undefined) };
    const made = world({ needsApproval: true });
    const runtime = made.process([call(1), 'Done.'], {}, { hooks: [once] });
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Go.'));
    const session = await runtime.execute(sessionId, approve(ids(waiting)[0] as string));
    expect([outcomes(session), made.calls]).toEqual([[['blocked', 1]], []]);
  });

  test.each([
    ['deny', 'tool-completed', (id: string) => deny(id)],
    ['approve', 'tool-started', (id: string) => approve(id)],
  ] as const)('with a decision (%s) are reported once to listeners', async (_, type, decide) => {
    const made = world({ needsApproval: true });
    const heard: string[] = [];
    const listeners = [({ type: happened }: AgentEvent) => void heard.push(happened)];
    const runtime = made.process([call(1), 'Done.'], {}, { listeners });
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Go.'));
    expect(heard.filter((each) => each.startsWith('tool-'))).toEqual(['tool-waiting']);
    await runtime.execute(sessionId, decide(ids(waiting)[0] as string));
    expect(heard.filter((each) => each === type)).toHaveLength(1);
    expect(heard.filter((each) => each.startsWith('tool-') && each !== type)).toEqual(
      type === 'tool-started' ? ['tool-waiting', 'tool-completed'] : ['tool-waiting'],
    );
  });

  test('with a saved intent are known not to have started when the run is stopped', async () => {
    const controller = new AbortController();
    const afterSave = ({ state }: AgentSession): void => {
      if (state.currentStep?.toolExecutions.length) controller.abort();
    };
    const made = world();
    const runtime = made.process([call(1)], { hooks: { afterSave } });
    const { sessionId } = await runtime.create({ definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Go.'), { signal: controller.signal });
    expect([state.status, made.calls]).toEqual(['stopped', []]);
    expect(state.steps[0]?.toolExecutions.map(({ error }) => error?.message)).toEqual([
      'Tool "pay" was not called: the run was stopped before.',
    ]);
  });

  test('in doubt after a crash complete as interrupted when the execution is stopped before a decision', async () => {
    const made = await diesInTool({ effect: 'ask' });
    takeOver(made);
    const runtime = made.process([]);
    expect(await runtime.advance(made.sessionId)).toMatchObject({ outcome: { type: 'suspended' } });
    await runtime.enqueue(made.sessionId, { type: 'stop' });
    await runtime.advance(made.sessionId);
    const session = await runtime.get(made.sessionId);
    expect([session.state.status, outcomes(session)]).toEqual(['stopped', [['interrupted', 1]]]);
  });

  test('approved while another tool stops the execution never run', async () => {
    const made = world({ needsApproval: true });
    const halt = does('halt', () => {
      throw new AgentStop('halt');
    });
    const script: ScriptedAnswer[] = [{ calls: { pay: {}, halt: {} } }, 'Next.'];
    const runtime = made.process(script, {}, { tools: [halt] });
    const { sessionId } = await runtime.create({ definition });
    const stopped = await runtime.execute(sessionId, sendMessage('Go.'));
    expect([stopped.state.status, ids(stopped)]).toEqual(['stopped', []]);
    const next = await runtime.execute(sessionId, sendMessage('Again.'));
    expectPaired(expectSound(next.state).messages);
    expect([next.state.finalResponse, made.calls]).toEqual(['Next.', []]);
  });

  test('of unknown tools, and with invalid arguments, fail with an error that the model reads', async () => {
    const strict = tool({
      name: 'strict',
      description: 'Takes a number.',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      needsApproval: true,
      execute: () => 'done',
    });
    const made = world();
    const asked = async (): Promise<{ readonly sessionId: string; readonly id: string }> => {
      const runtime = made.process([{ calls: { strict: { n: 1 } } }], {}, { tools: [strict] });
      const { sessionId } = await runtime.create({ definition });
      const [id = ''] = ids(await runtime.execute(sessionId, sendMessage('Go.')));
      return { sessionId, id };
    };
    const first = await asked();
    const gone = await made.process(['Done.']).execute(first.sessionId, approve(first.id));
    expect(gone.state.errors.map(({ code }) => code)).toEqual(['TOOL_NOT_FOUND']);
    const second = await asked();
    const next = made.process(['Done.'], {}, { tools: [strict] });
    const misfit = approve(second.id, { input: { n: 'one' } });
    await expect(next.execute(second.sessionId, misfit)).rejects.toMatchObject({
      code: 'TOOL_ARGUMENTS_INVALID',
    });
    expect(ids(await next.get(second.sessionId))).toEqual([second.id]);
  });

  test('with the same call id are approved separately', async () => {
    const made = world({ needsApproval: true });
    const content = [1, 2].map((amount) => {
      return { type: 'tool-call', toolCallId: 'same', toolName: 'pay', input: { amount } } as const;
    });
    const runtime = made.process([{ content }, 'Done.']);
    const { sessionId } = await runtime.create({ definition });
    const [first = '', second = ''] = ids(await runtime.execute(sessionId, sendMessage('Go.')));
    await runtime.execute(sessionId, approve(second));
    const session = await runtime.execute(sessionId, deny(first));
    expect([outcomes(session), made.calls.map((line) => line.split(' ')[2])]).toEqual([
      [
        ['denied', 1],
        ['succeeded', 1],
      ],
      ['{"amount":2}'],
    ]);
  });
});

describe('subagents', () => {
  test('the steps of a subagent are not the steps of its caller', async () => {
    const made = world();
    const runtimeOf = (
      child: readonly ScriptedAnswer[],
      script: readonly ScriptedAnswer[],
    ): SessionRuntime => {
      const inner = createAgentLoop({
        driver: scriptedDriver(...child),
        tools: [
          does('look', () =>
            made.store.enqueue(sessionId, { id: 'm', content: { type: 'message', content: 'Wait.' } }),
          ),
        ],
        clock: made.clock,
      });
      const find = subagent({ name: 'find', description: 'Finds.', loop: inner });
      return made.process(script, {}, { tools: [find] });
    };
    const runtime = runtimeOf(
      [{ calls: { look: {} } }, { calls: { look: {} } }, 'Found.'],
      [{ calls: { find: { prompt: 'Find.' } } }, 'Done.'],
    );
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const first = await runtime.advance(sessionId, { maxSteps: 1 });
    const { state } = await runtime.get(sessionId);
    expect([first.outcome.type, state.steps.length, outcomes(await runtime.get(sessionId))]).toEqual([
      'yield',
      1,
      [['succeeded', 1]],
    ]);
  });
});
