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
import { settingsOf } from './release.ts';
import type { Stage } from './stage.ts';
import { oddText } from './values.ts';

/** Plays a conversation with a session. The process may stop between two requests; another one then loads the session. */
export async function playSession(stage: Stage): Promise<void> {
  const { clock, dice, profiles } = stage;
  const store = new MemorySessionStore({ clock });
  const agents = () => stage.release.loop;
  const process = () => new SessionRuntime({ store, agents, clock });
  const definition = { name: 'odd', systemPrompt: oddText(dice), llmConfig: settingsOf(profiles[0]) };
  let session = await process().create({ definition });
  for (let turn = dice.number(2, 5); turn > 0; turn--) {
    stage.beginTurn();
    if (dice.chance(0.15)) stage.release = stage.nextRelease();
    session = await acted(stage, process(), session, actionOn(stage, session));
    while (session.state.hasActiveExecution && session.state.status !== 'suspended')
      session = await acted(stage, process(), session, resume());
  }
}

function actionOn(stage: Stage, { state }: AgentSession): SessionAction {
  const { dice, profiles } = stage;
  const question = state.messages.toArray().findLast(({ role }) => role === 'user');
  if (question === undefined || dice.chance(0.4)) return sendMessage(stage.words());
  if (state.status === 'failed' && dice.chance(0.3)) return retry();
  const actions = [
    regenerate(),
    changeModel(settingsOf(dice.of(profiles))),
    changeSystemPrompt(oddText(dice)),
  ];
  return dice.of([editMessage(question.id, stage.words()), ...actions]);
}

/** Acts, and stops before an answer in some cases. An action that the session refuses does nothing. */
async function acted(
  stage: Stage,
  runtime: SessionRuntime,
  session: AgentSession,
  action: SessionAction,
): Promise<AgentSession> {
  const { dice } = stage;
  const aborting = new AbortController();
  let answers = dice.chance(0.25) ? dice.number(1, 3) : Infinity;
  stage.beforeAnswer = () => {
    if (--answers === 0) aborting.abort(new RunAbort('yield'));
  };
  const { signal } = aborting;
  const onEvent = dice.chance(0.5) ? () => undefined : undefined;
  const loaded = async (error: unknown) => {
    if (!(error instanceof HoldfastError)) throw error;
    return (await runtime.store.load(session.sessionId)) ?? session;
  };
  const after = await runtime
    .execute(session.sessionId, action, { signal, ...(onEvent && { onEvent }) })
    .catch(loaded);
  stage.note(after.state);
  return after;
}
