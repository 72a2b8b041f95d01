import type { CheckpointPoint } from '../../loop/checkpoint.ts';

/**
 * How much of a run may be done twice after a crash. `each-effect`: nothing that has effects; kept after every answer of
 * the model, before a tool with effects is called, and after it. `each-step`: a step. `end`: all of it.
 */
export type SavePolicy = 'each-effect' | 'each-step' | 'end';

export const SAVE_POLICIES: readonly SavePolicy[] = ['each-effect', 'each-step', 'end'];

const POINTS: Readonly<Record<SavePolicy, readonly CheckpointPoint[]>> = {
  'each-effect': ['inference', 'intent', 'outcome', 'step'],
  'each-step': ['step'],
  end: [],
};

/** Is a run to be saved at this point? */
export function savesAt(policy: SavePolicy, point: CheckpointPoint): boolean {
  return POINTS[policy].includes(point);
}
