import {
  changeModel,
  changeStatus,
  changeSystemPrompt,
  clearHistory,
  createAgentLoop,
  hasErrorCode,
  MemorySessionStore,
  resume,
  sendMessage,
  SessionConflictError,
  SessionRuntime,
  tool,
  writeMetadata,
} from '@holdfast/core';
import type { AgentSession, Hook, SessionAction, SessionEvent, SessionHooks } from '@holdfast/core';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { z } from 'zod';

const definition = { name: 'guide' };
const store = new MemorySessionStore();
const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: z.object({}),
  execute: () => 'a tower',
});

const loopOf = (...script: ScriptedAnswer[]) =>
  createAgentLoop({ driver: scriptedDriver(...script), tools: [look] });
const runtimeFor = (...script: ScriptedAnswer[]): SessionRuntime =>
  new SessionRuntime({ store, agents: { guide: loopOf(...script) } });

{
  const runtime = runtimeFor('Welcome.');
  // #region life
  const { sessionId } = await runtime.create({ definition, sessionId: 'visitor-7' }); // or a UUID
  const session = await runtime.execute(sessionId, sendMessage('Hello'));
  console.log(session.state.finalResponse, session.version, (await runtime.get(sessionId)).version); // => Welcome. 3 3
  const { sessions, cursor } = await runtime.list({ agentName: 'guide', order: 'lastActiveAt', limit: 20 });
  console.log(sessions[0]?.sessionId, sessions[0]?.executionStatus, cursor); // => visitor-7 completed undefined
  console.log(await runtime.delete(sessionId), await runtime.delete(sessionId)); // => true false
  // #endregion
}

{
  const runtime = runtimeFor();
  const { sessionId } = await runtime.create({ definition });
  // #region actions
  await runtime.execute(sessionId, changeModel({ model: 'large', temperature: 0 })); // from its next call on
  await runtime.execute(sessionId, changeSystemPrompt('Be brief.')); // also
  await runtime.execute(sessionId, writeMetadata('language', 'fr'));
  await runtime.execute(sessionId, clearHistory()); // forgets messages and execution, keeps the rest
  const { state } = await runtime.execute(sessionId, changeStatus('suspended')); // until it is `active` again
  console.log(state.llmConfig?.model, state.metadata.toJSON()); // => large { language: 'fr' }
  // #endregion
  const refused = await runtime.execute(sessionId, sendMessage('Hello')).catch((error: unknown) => error);
  console.log(hasErrorCode(refused, 'SESSION_REFUSED')); // => true
}

{
  const runtime = runtimeFor(new Error('The provider is down.'), 'A mathematician.');
  const { sessionId } = await runtime.create({ definition });
  // #region own
  const visit: SessionAction = Object.assign(
    (session: AgentSession) => {
      const visits = session.state.metadata.get<number>('visits') ?? 0;
      return session.withState(session.state.withMetadata('visits', visits + 1));
    },
    { isQuick: true }, // neither claims the session nor runs the agent
  );
  const tryAgain: SessionAction = (session, context) => context.run(session); // on what was said before
  const failed = await runtime.execute(sessionId, sendMessage('Who was Ada?'));
  const { state } = await runtime.execute(sessionId, tryAgain);
  console.log(failed.state.status, state.finalResponse); // => failed A mathematician.
  // #endregion

  // #region conflicts
  const visited = (): Promise<AgentSession> =>
    runtime.execute(sessionId, visit).catch((error: unknown) => {
      if (error instanceof SessionConflictError && error.kind === 'stale') return visited();
      throw error;
    });
  await Promise.all([visited(), visited(), visited()]);
  console.log((await runtime.get(sessionId)).state.metadata.get('visits')); // => 3
  // #endregion
}

{
  const runtime = runtimeFor({ calls: { look: {} } }, 'It is a tower.', 'Well, a castle.');
  const { sessionId } = await runtime.create({ definition });
  await runtime.execute(sessionId, sendMessage('What is that?'));
  // #region fork
  const copy = await runtime.fork(sessionId); // ready for its next message
  const earlier = await runtime.fork(sessionId, { atStep: 1 }); // it has looked, and said nothing yet
  const { state } = await runtime.execute(earlier.sessionId, resume());
  console.log(copy.forkedFrom === sessionId, state.finalResponse); // => true Well, a castle.
  console.log((await runtime.get(sessionId)).state.finalResponse); // => It is a tower.
  // #endregion
}

{
  const runtime = runtimeFor('Welcome.');
  const { sessionId } = await runtime.create({ definition });
  // #region twice
  const patient = { whenBusy: 'refuse', waitSeconds: 30 } as const;
  const send = () => runtime.execute(sessionId, sendMessage('Hello', { id: 'form-17' }), patient);
  const [first, second] = await Promise.all([send(), send()]);
  console.log(second.state.finalResponse, first.version === second.version); // => Welcome. true
  // #endregion
}

{
  const agents = { guide: loopOf('Welcome.') };
  // #region hooks
  const hooks: SessionHooks = {
    beforeCreate: (session) => session.withState(session.state.withMetadata('plan', 'free')),
  };
  const onSessionEvent = ({ type, session }: SessionEvent) => console.log(type, session.version);
  const runtime = new SessionRuntime({ store, agents, hooks, onSessionEvent });
  const { sessionId } = await runtime.create({ definition }); // => session-saved 1
  const { state } = await runtime.execute(sessionId, sendMessage('Hello')); // => session-loaded 1
  // => session-saved 2
  // => session-saved 3
  console.log(state.metadata.get('plan')); // => free
  // #endregion
}

{
  const agents = { guide: loopOf() };
  const clock = manualClock(Date.parse('2026-12-01T09:00:00Z'));
  // #region expiry
  const store = new MemorySessionStore({ clock, expiry: { afterSeconds: 3_600 } });
  const runtime = new SessionRuntime({ store, agents, clock });
  const { sessionId } = await runtime.create({ definition });
  clock.advance(3_599_000);
  await runtime.execute(sessionId, writeMetadata('language', 'fr')); // it has another hour
  clock.advance(3_599_000);
  console.log((await runtime.get(sessionId)).version); // => 2
  clock.advance(1_000);
  console.log((await runtime.list()).sessions.length, await store.prune()); // => 0 1
  // #endregion
}

{
  const parentId = 'trip';
  const inputSchema = z.object({ question: z.string() });
  const ask = tool({
    name: 'ask',
    description: 'Asks a colleague.',
    inputSchema,
    effect: 'idempotent',
    async execute({ question }, { idempotencyKey }) {
      const sessionId = `${parentId}/${idempotencyKey}`;
      if (!(await store.exists(sessionId)))
        await runtime.create({ definition: { name: 'colleague' }, sessionId, parentId });
      await runtime.enqueue(sessionId, { type: 'message', content: question }, { id: 'question' });
      return sessionId;
    },
  });
  const read = tool({
    name: 'read',
    description: 'Reads what a colleague has answered.',
    inputSchema: z.object({}),
    effect: 'readOnly',
    async execute(_, { state }) {
      const child = state.steps[0]?.toolExecutions[0]?.value;
      return (await runtime.get(child as string)).state.finalResponse;
    },
  });
  const untilAnswered: Hook = {
    async afterStep(state, { clock }) {
      const asked = (state.currentStep?.toolExecutions ?? []).filter(({ name }) => name === 'ask');
      const children = await Promise.all(asked.map(({ value }) => store.load(value as string)));
      const waiting = children.flatMap((child) => {
        if (child === undefined || child.state.execution?.isTerminal) return [];
        return [{ type: 'child', sessionId: child.sessionId } as const];
      });
      return waiting.length === 0 ? undefined : state.withExecutionStatus('suspended', clock.now(), waiting);
    },
  };
  const driver = scriptedDriver(
    { calls: { ask: { question: 'Is it open?' } } },
    { calls: { read: {} } },
    'It is open.',
  );
  const planner = createAgentLoop({ driver, tools: [ask, read], hooks: [untilAnswered] });
  const runtime = new SessionRuntime({ store, agents: { planner, colleague: loopOf('Open.') } });
  await runtime.create({ definition: { name: 'planner' }, sessionId: parentId });
  // #region parent
  const { info } = await runtime.execute(parentId, sendMessage('Can we go there?'));
  console.log(info.waitingFor); // => child
  for (const { sessionId } of (await runtime.list({ parentId })).sessions)
    console.log(await runtime.advance(sessionId)); // => { outcome: { type: 'finished' }, wake: [ 'trip' ] }
  await runtime.advance(parentId); // a tool of it reads the answer
  console.log((await runtime.get(parentId)).state.finalResponse); // => It is open.
  // #endregion
}
