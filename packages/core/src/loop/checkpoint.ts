import type { AgentState } from '../state/agent-state.ts';

/**
 * Where a run stands when its state is worth keeping. `inference`: the model has answered, and nothing was done about it
 * yet. `intent`: tools with effects are about to start. `outcome`: such tools have ended. `step`: a step is closed, of the
 * run or, while a step of the run is open, of a subagent in it.
 * One state may be several of them: the first in this order names it.
 */
export type CheckpointPoint = 'inference' | 'intent' | 'outcome' | 'step';

/** Keeps the states of a run while it goes on, so that another process can go on with it. */
export interface Checkpoint {
  /**
   * Keeps a state; the run goes on when it is kept, from the state that this returns: the same, or one made from it. It is
   * asked for one state at a time. What it rejects with ends the run at once: nothing more is begun, what is under way is
   * aborted, and the run rejects with it.
   */
  save(state: AgentState, point: CheckpointPoint): Promise<AgentState>;
  /** Asked right before each try of a tool with effects. `false`: another process has the run, and it ends as it is. */
  mayAct?(): boolean | Promise<boolean>;
}
