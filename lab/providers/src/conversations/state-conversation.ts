import { AgentState, assistantMessage, systemMessage, userMessage, type Message } from '@holdfast/core';
import { toolMessage } from '@holdfast/core/driver';
import { Crash } from './mortal-store.ts';
import { settingsOf } from './release.ts';
import type { Stage } from './stage.ts';
import { oddId, oddName, oddText } from './values.ts';

interface Ended {
  readonly state: AgentState;
  readonly isCrashed: boolean;
}

/** Plays a conversation with a loop. The process may die at each checkpoint; another release may then continue from JSON. */
export async function playStates(stage: Stage): Promise<void> {
  let state = begun(stage);
  for (let turn = stage.dice.number(1, 4); turn > 0; turn--) {
    stage.beginTurn();
    let ended = await ran(stage, changed(stage, asked(stage, state)));
    while (ended.isCrashed) {
      stage.saw('crash of a run');
      ended = await ran(stage, changed(stage, restored(ended.state)));
    }
    ({ state } = ended);
  }
}

function restored(state: AgentState): AgentState {
  return AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
}

function begun(stage: Stage): AgentState {
  const { dice, profiles } = stage;
  const state = AgentState.empty().withLlmConfig(settingsOf(profiles[0]));
  const prompted = dice.chance(0.6) ? state.withSystemPrompt(oddText(dice)) : state;
  if (dice.chance(0.5)) return prompted;
  const first = dice.chance(0.7) ? [systemMessage(oddText(dice), { clock: stage.clock })] : [];
  return prompted.withMessages([...first, ...dice.list(1, 4, () => imported(stage)).flat()]);
}

/** Messages from elsewhere, in any order of roles. */
function imported(stage: Stage): readonly Message[] {
  const { dice, clock } = stage;
  stage.saw('imported message');
  if (dice.chance(0.4)) {
    stage.saw('custom part');
    return [assistantMessage([{ type: 'custom', kind: 'other.note' }], { clock })];
  }
  const [text, toolCallId, toolName] = [oddText(dice), oddId(dice), oddName(dice, [])];
  const output = { type: 'text', value: oddText(dice) } as const;
  return dice.of<readonly Message[]>([
    [systemMessage(text, { clock })],
    [userMessage(text, { clock })],
    [assistantMessage(text, { clock })],
    [
      assistantMessage([{ type: 'tool-call', toolCallId, toolName, input: text }], { clock }),
      toolMessage([{ type: 'tool-result', toolCallId, toolName, output }], { clock }),
    ],
  ]);
}

/** The user writes, or repeats a failed run. */
function asked(stage: Stage, state: AgentState): AgentState {
  if (state.status === 'failed' && stage.dice.chance(0.3)) return state;
  return state.withUserMessage(stage.words(), { clock: stage.clock });
}

/** A deploy, or a change of the prompt or of the model. */
function changed(stage: Stage, state: AgentState): AgentState {
  const { dice } = stage;
  if (dice.chance(0.15)) stage.deploy();
  const prompted = dice.chance(0.1) ? state.withSystemPrompt(oddText(dice)) : state;
  return dice.chance(0.3) ? prompted.withLlmConfig(stage.otherModel(state)) : prompted;
}

async function ran(stage: Stage, given: AgentState): Promise<Ended> {
  const { dice, release } = stage;
  let saved = given;
  const save = (state: AgentState) => {
    saved = state;
    return dice.chance(0.1) ? Promise.reject(new Crash()) : Promise.resolve(state);
  };
  const onEvent = dice.chance(0.5) ? () => undefined : undefined; // a listener makes the driver stream
  const ended = await release.loop.run(given, { checkpoint: { save }, onEvent }).then(
    (state): Ended => ({ state, isCrashed: false }),
    (error: unknown): Ended => {
      if (!(error instanceof Crash)) throw error;
      return { state: saved, isCrashed: true };
    },
  );
  stage.note(ended.state);
  return ended;
}
