import { isDeepStrictEqual } from 'node:util';
import type { AgentSession, ToolExecution } from '@holdfast/core';
import type { Kind, Plan } from '../src/agent.ts';
import type { Entry } from '../src/journal.ts';
import { canonical, difference } from './canonical.ts';
import { historyProblems, priceProblems } from './checks.ts';

/**
 * How a later process continued a session. `same`: without a call in doubt. With one: it called the tool `again` under the
 * same key, `found` the outcome outside, `asked` a person before another call, or recorded the outcome as `unknown`.
 */
export type Treatment = 'same' | 'again' | 'found' | 'asked' | 'unknown';

/** A session whose process has died. */
export interface Case {
  readonly plan: Plan;
  /** The stored session at the death. */
  readonly atDeath: AgentSession;
  /** The entries until the death, and those after it. */
  readonly before: readonly Entry[];
  readonly after: readonly Entry[];
  readonly final: AgentSession;
  /** A session of the same plan without a fault. */
  readonly uninterrupted: AgentSession;
}

/** The kinds of tools whose calls in doubt end in another way than without a fault. */
const ENDS_OTHERWISE = new Set<Kind>(['once', 'approval', 'ask']);

/** Returns how later processes continued a session, and the problems. */
export function judge(one: Case): { readonly treatment: Treatment; readonly problems: readonly string[] } {
  const { plan, atDeath, before, after, final, uninterrupted } = one;
  const problems = [...historyProblems(final), ...priceProblems(final)];
  const treatments = new Set<Treatment>();
  const inDoubt = new Set<string>();
  for (const call of callsOf(plan)) {
    const known = executionOf(atDeath, call);
    const isDone = before.some((entry) => entry.type === 'done' && entry.call === call);
    const expected = expectedOf(plan.kind, known, isDone);
    if (expected.treatment !== 'same') inDoubt.add(call);
    treatments.add(expected.treatment);
    const count = after.filter((entry) => entry.type === 'called' && entry.call === call).length;
    if (count !== expected.calls) problems.push(`${call} was called ${count} times, not ${expected.calls}`);
    if (known === undefined && before.some((entry) => entry.call === call))
      problems.push(`${call} was called before its intent was saved`);
    const outcome = executionOf(final, call)?.outcome?.type;
    if (outcome !== expected.outcome) problems.push(`${call} ended ${outcome}, not ${expected.outcome}`);
  }
  const leftOut = ENDS_OTHERWISE.has(plan.kind) ? inDoubt : new Set<string>();
  const [found, wanted] = [canonical(final, leftOut), canonical(uninterrupted, leftOut)];
  if (!isDeepStrictEqual(found, wanted))
    problems.push(`differs from a run without a fault: ${difference(found, wanted)}`);
  const [treatment = 'same'] = [...treatments].filter((each) => each !== 'same');
  return { treatment, problems: problems.map((what) => `${plan.sessionId}: ${what}`) };
}

interface Expected {
  readonly treatment: Treatment;
  /** The number of calls after the death. */
  readonly calls: number;
  readonly outcome: 'succeeded' | 'interrupted';
}

/** The expected end of a call, by the kind of its tool. */
function expectedOf(kind: Kind, known: ToolExecution | undefined, isDone: boolean): Expected {
  if (kind === 'answer') return { treatment: 'same', calls: 0, outcome: 'succeeded' }; // the answer comes from outside
  const isInDoubt = known?.isRunning && !known.isAwaitingApproval;
  if (!isInDoubt) return { treatment: 'same', calls: known?.outcome ? 0 : 1, outcome: 'succeeded' };
  switch (kind) {
    case 'readOnly':
    case 'idempotent':
      return { treatment: 'again', calls: 1, outcome: 'succeeded' };
    case 'reconcile':
      return { treatment: isDone ? 'found' : 'again', calls: isDone ? 0 : 1, outcome: 'succeeded' };
    case 'ask':
      return { treatment: 'asked', calls: 1, outcome: 'succeeded' };
    case 'once':
    case 'approval':
      return { treatment: 'unknown', calls: 0, outcome: 'interrupted' };
  }
}

function callsOf({ steps, calls }: Plan): readonly string[] {
  return Array.from({ length: steps * calls }, (_, index) => {
    return `${Math.floor(index / calls) + 1}.${(index % calls) + 1}`;
  });
}

function executionOf({ state }: AgentSession, call: string): ToolExecution | undefined {
  const steps = [...state.steps, ...(state.currentStep ? [state.currentStep] : [])];
  const executions = steps.flatMap(({ toolExecutions }) => [...toolExecutions]);
  return executions.find((execution) => execution.call.toolCallId === call);
}
