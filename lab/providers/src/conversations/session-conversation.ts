import {
  changeModel,
  changeSystemPrompt,
  editMessage,
  HoldfastError,
  MemorySessionStore,
  regenerate,
  resume,
  retry,
  RunAbort,
  sendMessage,
  SessionRuntime,
  type AgentSession,
  type SessionAction,
} from '@holdfast/core';
import { Crash, mortalStore } from './mortal-store.ts';
import { settingsOf } from './release.ts';
import type { Stage } from './stage.ts';
import { oddText } from './values.ts';

/** Plays a conversation with a session. The process may stop or die between two requests; another one then loads the session. */
export async function playSession(stage: Stage): Promise<void> {
  const { clock, dice, profiles } = stage;
  const store = new MemorySessionStore({ clock });
  const agents = () => stage.release.loop;
  const process = () => new SessionRuntime({ store: mortalStore(store, dice), agents, clock });
  const definition = { name: 'odd', systemPrompt: oddText(dice), llmConfig: settingsOf(profiles[0]) };
  let session = await new SessionRuntime({ store, agents, clock }).create({ definition });
  const act = async (action: SessionAction): Promise<void> => {
    if (dice.chance(0.15)) stage.deploy();
    session = await acted(stage, process(), session, action).catch((error: unknown) =>
      survived(stage, store, session, error),
    );
    stage.note(session.state);
  };
  for (let turn = dice.number(2, 5); turn > 0; turn--) {
    stage.beginTurn();
    await act(actionOn(stage, session));
    while (session.state.hasActiveExecution && session.state.status !== 'suspended') await act(resume());
  }
}

/** Another process can claim a session after the lease of the dead one. */
const AFTER_LEASE_MS = 60_000;

/** The session as it is stored: an action that it refuses does nothing, and a process that dies leaves what it has saved. */
async function survived(
  stage: Stage,
  store: MemorySessionStore,
  session: AgentSession,
  error: unknown,
): Promise<AgentSession> {
  if (error instanceof Crash) {
    stage.saw('crash of a process with a store');
    stage.clock.advance(AFTER_LEASE_MS);
  } else if (!(error instanceof HoldfastError)) throw error;
  return (await store.load(session.sessionId)) ?? session;
}

function actionOn(stage: Stage, { state }: AgentSession): SessionAction {
  const { dice } = stage;
  const question = state.messages.toArray().findLast(({ role }) => role === 'user');
  if (question === undefined || dice.chance(0.4)) return sendMessage(stage.words());
  if (state.status === 'failed' && dice.chance(0.3)) return retry();
  const actions = [regenerate(), changeModel(stage.otherModel(state)), changeSystemPrompt(oddText(dice))];
  return dice.of([editMessage(question.id, stage.words()), ...actions]);
}

/** Acts, and stops before an answer in some cases. */
function acted(
  stage: Stage,
  runtime: SessionRuntime,
  { sessionId }: AgentSession,
  action: SessionAction,
): Promise<AgentSession> {
  const { dice } = stage;
  const aborting = new AbortController();
  let answers = dice.chance(0.25) ? dice.number(1, 3) : Infinity;
  stage.beforeAnswer = () => {
    if (--answers !== 0) return;
    stage.saw('hand-over to another process');
    aborting.abort(new RunAbort('yield'));
  };
  const { signal } = aborting;
  const onEvent = dice.chance(0.5) ? () => undefined : undefined;
  return runtime.execute(sessionId, action, { signal, ...(onEvent && { onEvent }) });
}
