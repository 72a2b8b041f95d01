import { AgentState, userMessage } from '@holdfast/core';
import { Job } from './peers/job.ts';
import { coreLoop, firstState } from './peers/core.ts';

/** A state after a run of tool steps: about 200 bytes of arguments and, unless told otherwise, 1 KB of result each. */
export async function stateAfter(steps: number, resultLength?: number): Promise<AgentState> {
  const job = new Job({ steps, ...(resultLength !== undefined && { resultLength }) });
  return coreLoop(job).run(firstState(job));
}

/** A state whose conversation is so many messages of 1 KB. */
export function stateOf(messages: number): AgentState {
  const text = 'm'.repeat(1_000);
  return AgentState.empty().withMessages(Array.from({ length: messages }, () => userMessage(text)));
}
