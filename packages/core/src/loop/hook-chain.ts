import { describeValue, HoldfastError } from '../errors.ts';
import { AgentState } from '../state/agent-state.ts';
import { AgentStop } from '../state/continuation.ts';
import type { Hook, HookContext, HookPoint } from './hook.ts';

/** The points whose hooks take a state and may return another. */
export type StatePoint = 'beforeExecution' | 'beforeStep' | 'afterStep' | 'onStop' | 'afterExecution';

/** What hooks of the other points return: something changed, a changed state, or both. */
type Change = { readonly state?: AgentState };

const POINTS: readonly HookPoint[] = [
  'beforeExecution',
  'beforeStep',
  'beforeInference',
  'afterInference',
  'beforeToolUse',
  'afterToolUse',
  'afterStep',
  'onStop',
  'afterExecution',
  'onError',
];

/** Hooks in the order in which they are called, by point. */
export class HookChain {
  private readonly byPoint: ReadonlyMap<HookPoint, readonly Hook[]>;

  constructor(hooks: readonly Hook[]) {
    const ordered = hooks.toSorted((left, right) => (right.priority ?? 0) - (left.priority ?? 0));
    this.byPoint = new Map(POINTS.map((point) => [point, ordered.filter((hook) => hook[point] !== undefined)]));
  }

  /** True when somebody hooked this point. */
  has(point: HookPoint): boolean {
    return this.at(point).length > 0;
  }

  /** The hooks of a point. */
  at(point: HookPoint): readonly Hook[] {
    return this.byPoint.get(point) ?? [];
  }

  /**
   * Calls one hook.
   * @throws AgentStop as the hook threw it; HoldfastError `HOOK_FAILED` for anything else that it throws, and for
   * a result that is neither nothing nor what the point takes.
   */
  async call<Result extends AgentState | Change>(
    hook: Hook,
    point: HookPoint,
    subject: unknown,
    context: HookContext,
  ): Promise<Result | undefined> {
    let result: unknown;
    try {
      const method = hook[point] as (this: Hook, subject: unknown, context: HookContext) => unknown;
      result = await method.call(hook, subject, context);
    } catch (error) {
      if (error instanceof AgentStop) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new HoldfastError('HOOK_FAILED', `${nameOf(hook)} failed in ${point}: ${reason}`, { cause: error });
    }
    if (result === undefined || result === null) return undefined;
    const state = result instanceof AgentState ? result : (result as Change).state;
    const isState = state instanceof AgentState;
    if (typeof result !== 'object' || (TAKES_STATE.has(point) ? result !== state || !isState : state !== undefined && !isState)) {
      const expected = TAKES_STATE.has(point) ? 'a state' : 'an object of changes';
      throw new HoldfastError(
        'HOOK_FAILED',
        `${nameOf(hook)} returned ${describeValue(result)} from ${point}; it may return ${expected} or nothing.`,
      );
    }
    return result as Result;
  }
}

const TAKES_STATE: ReadonlySet<HookPoint> = new Set([
  'beforeExecution',
  'beforeStep',
  'afterStep',
  'onStop',
  'afterExecution',
  'onError',
]);

function nameOf(hook: Hook): string {
  return hook.name === undefined ? 'A hook' : `Hook "${hook.name}"`;
}
