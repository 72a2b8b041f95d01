import type { CheckpointPoint } from '../../loop/steps/checkpoint.ts';

/**
 * At which checkpoints the runtime saves, and so how much of a run is repeated after a crash. `each-effect`: nothing
 * with an effect; the runtime saves after every response, and before and after each tool call with an effect.
 * `each-step`: at most one step; it saves when a step is closed. `end`: the whole run.
 */
export type SavePolicy = 'each-effect' | 'each-step' | 'end';

export const SAVE_POLICIES: readonly SavePolicy[] = ['each-effect', 'each-step', 'end'];

const POINTS: Readonly<Record<SavePolicy, readonly CheckpointPoint[]>> = {
  'each-effect': ['inference', 'intent', 'outcome', 'step'],
  'each-step': ['step'],
  end: [],
};

/** True when the policy saves at this checkpoint. */
export function savesAt(policy: SavePolicy, point: CheckpointPoint): boolean {
  return POINTS[policy].includes(point);
}
