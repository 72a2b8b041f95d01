import {
  approve,
  createAgentLoop,
  deny,
  MemorySessionStore,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  subagent,
  tool,
  type AgentLoop,
  type Clock,
  type JsonObject,
  type SessionEvent,
  type Tool,
  type ToolExecution,
} from '@holdfast/core';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { definition, outcomes, takeOver } from '../../support/durable-world.ts';

type Form = 'its own' | 'inside a subagent';

interface Asked {
  readonly sessionId: string;
  /** The waiting call as a person saw it at each request, from the first on. */
  readonly pages: readonly ToolExecution[];
  /** The attempts that were started. */
  readonly started: readonly number[];
  readonly events: readonly SessionEvent[];
  readonly process: () => SessionRuntime;
}

/** A session whose payment was started again after each approval, and whose process died in it each time. */
async function askedAgain(requests: number, form: Form = 'its own'): Promise<Asked> {
  const clock = manualClock(1_000_000);
  const store = new MemorySessionStore({ clock });
  const started: number[] = [];
  const events: SessionEvent[] = [];
  let reached = Promise.withResolvers<undefined>();
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    effect: 'ask',
    execute: (_, { attempt }) => {
      started.push(attempt);
      if (started.length > requests) return 'paid';
      reached.resolve(undefined);
      return new Promise<string>(() => undefined);
    },
  });
  const agents = (): Record<string, AgentLoop> => {
    const payer = agentWith(pay, { amount: 5 }, clock);
    if (form === 'its own') return { payer };
    const clerk = subagent({ name: 'clerk', description: 'Pays.', loop: payer });
    return { payer: agentWith(clerk, { prompt: 'Pay 5.' }, clock) };
  };
  const process = (): SessionRuntime =>
    new SessionRuntime({ store, clock, agents: agents(), onSessionEvent: (event) => events.push(event) });
  const { sessionId } = await process().create({ definition });
  const pages: ToolExecution[] = [];
  while (pages.length < requests) {
    reached = Promise.withResolvers();
    const last = pages.at(-1);
    const action = last === undefined ? sendMessage('Pay 5.') : approve(last);
    process()
      .execute(sessionId, action)
      .catch(() => undefined); // its process dies in the tool
    await reached.promise;
    takeOver({ clock, store });
    await process().advance(sessionId);
    pages.push(...pendingApprovals((await process().get(sessionId)).state));
  }
  return { sessionId, pages, started, events, process };
}

/** An agent that calls its tool once in each conversation. */
function agentWith(ownTool: Tool, input: JsonObject, clock: Clock): AgentLoop {
  const answer: ScriptedAnswer = ({ messages }) =>
    messages.last?.role === 'tool' ? 'Done.' : { calls: { [ownTool.name]: input } };
  return createAgentLoop({ driver: scriptedDriver(answer, answer), tools: [ownTool], clock });
}

const pageOf = ({ pages }: Asked, request: number): ToolExecution => pages[request - 1] as ToolExecution;

describe.each<Form>(['its own', 'inside a subagent'])('a call, %s', (form) => {
  test.each([
    [2, 1],
    [3, 1],
    [3, 2],
    [4, 2],
  ])('whose request %i is pending is not decided by the page of request %i', async (requests, seen) => {
    const made = await askedAgain(requests, form);
    const [old, latest] = [pageOf(made, seen), pageOf(made, requests)];
    expect(latest.approval).toEqual({ requestedAt: expect.any(Number), requestNumber: requests });
    const requestedAt = old.approval?.requestedAt ?? 0;
    for (const decide of [
      approve(old),
      deny(old),
      approve(old.id),
      deny(old.id),
      approve(old.id, { requestedAt }),
    ]) {
      await expect(made.process().execute(made.sessionId, decide)).rejects.toMatchObject({
        code: 'APPROVAL_OUTDATED',
        data: { ...latest.approval, toolExecutionId: old.id },
      });
    }
    expect(made.started).toHaveLength(requests);
    const done = await made.process().execute(made.sessionId, approve(latest));
    expect([made.started.length, done.state.finalResponse]).toEqual([requests + 1, 'Done.']);
  });

  test('is decided at its first request by its id alone', async () => {
    const made = await askedAgain(1, form);
    const page = pageOf(made, 1);
    expect(page.approval).toEqual({ requestedAt: expect.any(Number) });
    const done = await made.process().execute(made.sessionId, approve(page.id));
    expect([made.started, done.state.finalResponse]).toEqual([[1, 2], 'Done.']);
  });

  test('ignores an item of an earlier request, and uses the item of the pending one', async () => {
    const made = await askedAgain(2, form);
    const { id: toolExecutionId } = pageOf(made, 2);
    const items = [
      { requestedAt: pageOf(made, 1).approval?.requestedAt as number, decision: 'denied' },
      { decision: 'denied' },
      { requestedAt: pageOf(made, 2).approval?.requestedAt as number, decision: 'approved' },
    ] as const;
    for (const item of items)
      await made.process().enqueue(made.sessionId, { type: 'decision', toolExecutionId, ...item });
    await made.process().advance(made.sessionId);
    const ignored = made.events.filter(({ type }) => type === 'inbox-item-ignored');
    expect(ignored).toMatchObject([
      { reason: expect.stringMatching(/is on the request at \d+, but tool call/) },
      { reason: expect.stringMatching(/names no request, but tool call/) },
    ]);
    const session = await made.process().get(made.sessionId);
    expect([made.started, session.state.finalResponse]).toEqual([[1, 2, 3], 'Done.']);
  });
});

test('a decision with another instant than the first request is refused', async () => {
  const made = await askedAgain(1);
  const page = pageOf(made, 1);
  const requestedAt = (page.approval?.requestedAt as number) - 1;
  await expect(made.process().execute(made.sessionId, deny(page, { requestedAt }))).rejects.toMatchObject({
    code: 'APPROVAL_OUTDATED',
    data: { toolExecutionId: page.id, requestedAt: page.approval?.requestedAt },
  });
});

test('a page of a finished call decides nothing', async () => {
  const made = await askedAgain(2);
  const done = await made.process().execute(made.sessionId, deny(pageOf(made, 2), { reason: 'No.' }));
  expect([outcomes(done), pendingApprovals(done.state)]).toEqual([[['denied', 2]], []]);
  await expect(made.process().execute(made.sessionId, approve(pageOf(made, 2)))).rejects.toMatchObject({
    code: 'APPROVAL_NOT_FOUND',
  });
});
