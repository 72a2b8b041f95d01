import type { AgentState } from '@holdfast/core';
import { nextStep, stateOfSteps } from './execution-states.ts';
import { sampleMessages } from './sample-messages.ts';
import { emptyState, START } from './store-case.ts';

/** A state with values, messages in two sections, and an execution with a closed step. */
export function stateOfEveryPart(): AgentState {
  return stateOfSteps(withAppended(emptyState(), 'summary', 1), 1).withMetadata('n', 0, START);
}

/** Changes a value, messages of three sections, and the steps, as one save of a worker does. */
export function withEveryPartChanged(state: AgentState): AgentState {
  const extended = withAppended(withAppended(state, 'summary', 2), 'buffer', 1);
  const n = Number(state.metadata.get('n')) + 1;
  return nextStep(extended).withMetadata('n', n, START).withSystemPrompt(`Prompt ${n}.`, START);
}

/** Appends messages to a section. */
function withAppended(state: AgentState, section: string, count: number): AgentState {
  const { length } = state.store.section(section);
  const offset = section === 'buffer' ? 1_000 : 500;
  const messages = sampleMessages(length + count, offset);
  return state.withMessageStore(state.store.withSection(section, messages), START);
}
