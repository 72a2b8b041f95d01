import { isDeepStrictEqual } from 'node:util';
import type { AgentSession, ToolExecution } from '@holdfast/core';
import type { Kind, Plan } from '../src/agent.ts';
import type { Entry } from '../src/journal.ts';
import { canonical, difference } from './canonical.ts';
import { historyProblems, priceProblems } from './checks.ts';

/**
 * What a later process has done about what it found. `same`: went on. About a call in doubt: `again`, under the same key;
 * `found` its outcome outside; `asked` a person and then called it again; `unknown`: told the model so.
 */
export type Treatment = 'same' | 'again' | 'found' | 'asked' | 'unknown';

/** A session over which a process has died. */
export interface Case {
  readonly plan: Plan;
  /** The session as the store had it then. */
  readonly atDeath: AgentSession;
  /** What was done until then, and from then on. */
  readonly before: readonly Entry[];
  readonly after: readonly Entry[];
  readonly final: AgentSession;
  /** A session of the same plan that nobody has interrupted. */
  readonly uninterrupted: AgentSession;
}

/** Of whom a call in doubt ends in another way than of an uninterrupted run. */
const ENDS_OTHERWISE = new Set<Kind>(['once', 'approval', 'ask']);

/** What was done about a session, and all that is wrong with it. */
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
      problems.push(`${call} was called before that was kept`);
    const outcome = executionOf(final, call)?.outcome?.type;
    if (outcome !== expected.outcome) problems.push(`${call} ended ${outcome}, not ${expected.outcome}`);
  }
  const leftOut = ENDS_OTHERWISE.has(plan.kind) ? inDoubt : new Set<string>();
  const [found, wanted] = [canonical(final, leftOut), canonical(uninterrupted, leftOut)];
  if (!isDeepStrictEqual(found, wanted)) problems.push(`ends otherwise: ${difference(found, wanted)}`);
  const [treatment = 'same'] = [...treatments].filter((each) => each !== 'same');
  return { treatment, problems: problems.map((what) => `${plan.sessionId}: ${what}`) };
}

interface Expected {
  readonly treatment: Treatment;
  /** How often the call is made from now on. */
  readonly calls: number;
  readonly outcome: 'succeeded' | 'interrupted';
}

/** What is declared to become of a call. */
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
