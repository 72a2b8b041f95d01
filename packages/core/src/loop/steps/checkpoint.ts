import type { AgentState } from '../../state/agent-state.ts';

/**
 * The point at which a checkpoint saves the state. `inference`: the model has responded, or its call has failed, and
 * nothing was done about it yet. `intent`: tools with effects are about to start. `outcome`: such tools have completed.
 * `step`: a step of the run is closed, or a step of a subagent while a step of the run is open. When several points apply
 * to one state, the first in this order is passed.
 */
export type CheckpointPoint = 'inference' | 'intent' | 'outcome' | 'step';

/** Saves the states of a run while it continues, so that another process can resume it. */
export interface Checkpoint {
  /**
   * Saves a state. The run continues with the state that this method returns: the same state, or one derived from it.
   * The run waits for each save before the next one. A rejection ends the run at once: no work starts, running work is
   * aborted, and the run rejects with the same error.
   */
  save(state: AgentState, point: CheckpointPoint): Promise<AgentState>;
  /**
   * Called right before each attempt of a tool with effects. `false` ends the run: another worker has the execution.
   */
  mayAct?(): boolean | Promise<boolean>;
}
