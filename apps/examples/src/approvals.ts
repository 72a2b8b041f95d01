import {
  approve,
  createAgentLoop,
  deny,
  hasErrorCode,
  MemorySessionStore,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  tool,
} from '@holdfast/core';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { z } from 'zod';

const definition = { name: 'clerk' };
const clock = manualClock(Date.parse('2026-12-01T09:00:00Z'));
const store = new MemorySessionStore({ clock });
const pay500 = { calls: { pay: { to: 'Ann', euros: 500 } } };

// #region tool
const pay = tool({
  name: 'pay',
  description: 'Pays somebody.',
  inputSchema: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: ({ euros }) => euros >= 100, // or `true`
  approvalTimeoutSeconds: 24 * 60 * 60, // or nothing, and it waits for ever
  execute: ({ to, euros }) => `${to} has ${euros} euros.`,
});
// #endregion

const runtimeFor = (...script: ScriptedAnswer[]): SessionRuntime => {
  const driver = scriptedDriver(...script);
  const clerk = createAgentLoop({ driver, tools: [pay], clock });
  return new SessionRuntime({ store, agents: { clerk }, clock });
};

{
  const runtime = runtimeFor(pay500, 'Paid less.');
  const { sessionId } = await runtime.create({ definition });
  // #region list
  const asking = await runtime.execute(sessionId, sendMessage('Pay Ann 500 euros.'));
  console.log(asking.state.status, asking.info.waitingFor); // => suspended approval

  const { sessions } = await runtime.list({ waitingFor: 'approval' }); // in any process, after any time
  for (const info of sessions) {
    const { state } = await runtime.get(info.sessionId);
    for (const { name, args } of pendingApprovals(state)) console.log(info.agentName, name, args);
  }
  // => clerk pay { to: 'Ann', euros: 500 }
  // #endregion

  // #region approve
  const [call] = pendingApprovals(asking.state);
  if (call === undefined) throw new Error('Nothing waits.');
  const input = { to: 'Ann', euros: 50 }; // left out: as the model asked
  const session = await runtime.execute(sessionId, approve(call.id, { by: 'bob', input }));
  const done = session.state.steps[0]?.toolExecutions[0];
  console.log(done?.value, done?.approval?.decision?.by); // => Ann has 50 euros. bob
  console.log(session.state.finalResponse); // => Paid less.

  const again = await runtime.execute(sessionId, deny(call.id)).catch((error: unknown) => error);
  console.log(hasErrorCode(again, 'APPROVAL_NOT_FOUND')); // => true
  // #endregion
}

{
  const runtime = runtimeFor(pay500, 'I was not allowed to.');
  const { sessionId } = await runtime.create({ definition });
  await runtime.execute(sessionId, sendMessage('Pay Ann 500 euros.'));
  // #region inbox
  const [call] = pendingApprovals((await runtime.get(sessionId)).state);
  if (call === undefined) throw new Error('Nothing waits.');
  const reason = 'She was paid yesterday.';
  const decision = { toolExecutionId: call.id, decision: 'denied', by: 'bob', reason } as const;
  await runtime.enqueue(sessionId, { type: 'decision', ...decision }); // at once, whoever is at work

  await runtime.advance(sessionId); // a worker, some time later
  const { state } = await runtime.get(sessionId);
  console.log(state.steps[0]?.toolExecutions[0]?.error?.message); // => She was paid yesterday.
  console.log(state.finalResponse); // => I was not allowed to.
  // #endregion
}

{
  const runtime = runtimeFor(pay500, 'Nobody was there.');
  const { sessionId } = await runtime.create({ definition });
  await runtime.execute(sessionId, sendMessage('Pay Ann 500 euros.'));
  // #region expiry
  const { outcome } = await runtime.advance(sessionId);
  console.log(outcome); // => { type: 'sleep', until: … }
  clock.advance(24 * 60 * 60 * 1000); // a day goes by
  const { sessions } = await store.due();
  console.log(sessions.length); // => 1
  await runtime.advance(sessionId);
  const { state } = await runtime.get(sessionId);
  console.log(state.steps[0]?.toolExecutions[0]?.error?.message); // => Nobody decided in time.
  // #endregion
}

{
  const runtime = runtimeFor(pay500, 'Paid; and the sky is blue.');
  const { sessionId } = await runtime.create({ definition });
  // #region message
  await runtime.execute(sessionId, sendMessage('Pay Ann 500 euros.'));
  const waiting = await runtime.execute(sessionId, sendMessage('And what colour is the sky?'));
  console.log(waiting.state.status, waiting.state.messages.length); // => suspended 2

  const [call] = pendingApprovals(waiting.state);
  const { state } = await runtime.execute(sessionId, approve(call?.id ?? ''));
  console.log(
    state.messages
      .toArray()
      .map(({ role }) => role)
      .join(' '),
    state.finalResponse,
  );
  // => user user assistant tool assistant Paid; and the sky is blue.
  // #endregion
}
