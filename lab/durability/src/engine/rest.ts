import type { Hook } from '@holdfast/core';
import { planOf } from '../agent.ts';

/** Suspends an execution after its first step, until the instant that its plan demands. */
export const rest: Hook = {
  afterStep(state, { clock }) {
    const { restMilliseconds } = planOf(state) ?? {};
    const ends = (state.currentStep?.toolExecutions ?? []).map(({ completedAt = 0 }) => completedAt);
    if (restMilliseconds === undefined || ends.length === 0 || state.steps.length > 0) return undefined;
    const until = Math.max(...ends) + restMilliseconds;
    const now = clock.now();
    return now >= until ? undefined : state.withExecutionStatus('suspended', now, [{ type: 'until', until }]);
  },
};
