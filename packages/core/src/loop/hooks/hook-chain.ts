import { checkArgument, mustBe, type ArgumentCheck } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { stopSignal, type StopSignal } from '../../state/execution/continuation.ts';
import type { InferenceRequest } from '../inference/driver.ts';
import { checkHookMembers, type MemberNames } from './hook-members.ts';
import type { StepDeadline, Hook, HookContext, HookPoint } from './hook.ts';
import { isThenable } from '../steps/events.ts';
import {
  asHookError,
  asMisfitError,
  UnacceptableResult,
  acceptResult,
  type HookInput,
  type ResultOf,
} from './hook-results.ts';

/** The hook points whose methods receive a state and may return another. */
export type StatePoint = 'beforeExecution' | 'beforeStep' | 'afterStep' | 'onStop' | 'afterExecution';

/** The points at which the loop calls hooks. */
export const HOOK_POINTS: readonly HookPoint[] = [
  'beforeExecution',
  'beforeStep',
  'beforeInference',
  'onContextTooLong',
  'afterInference',
  'beforeToolUse',
  'afterToolUse',
  'afterStep',
  'onStop',
  'afterExecution',
  'onError',
];

const NAME: ArgumentCheck = {
  expected: 'a string that is not empty',
  accepts: (value) => value === undefined || (typeof value === 'string' && value !== ''),
};
const PRIORITY: ArgumentCheck = {
  expected: 'a number',
  accepts: (value) => value === undefined || (typeof value === 'number' && !Number.isNaN(value)),
};

/** The methods of a hook; each hook has at least one. */
const MEMBERS = [...HOOK_POINTS, 'checkLimit', 'stepDeadline', 'checkRequest'] as const;
type HookMember = (typeof MEMBERS)[number];

const SESSION_HOOK = 'pass it to the runtime, as in new SessionRuntime({ store, agents, hooks })';

/** The hooks by method, in the order in which the loop calls them. */
export class HookChain {
  private readonly byMember: ReadonlyMap<string, readonly Hook[]>;
  private readonly hooks: readonly Hook[];
  private readonly guards: readonly Hook[];

  /**
   * @param hooks a hook without a name is named after its position in this list.
   * @param guards run before hooks of the same priority.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not a hook.
   */
  constructor(hooks: readonly Hook[], guards: readonly Hook[] = []) {
    requireHooks(hooks);
    this.hooks = hooks;
    this.guards = guards;
    const all = [...guards, ...hooks];
    const ordered = all.toSorted((left, right) => (right.priority ?? 0) - (left.priority ?? 0));
    this.byMember = new Map(
      MEMBERS.map((name) => [name, ordered.filter((hook) => hook[name] !== undefined)]),
    );
  }

  /** Returns a chain with additional guards, which run before the others. */
  with(guards: readonly Hook[]): HookChain {
    return guards.length === 0 ? this : new HookChain(this.hooks, [...guards, ...this.guards]);
  }

  /** The name of a hook, or its position in the list of hooks: `hook 2`. */
  nameOf(hook: Hook): string {
    return hook.name ?? `hook ${this.positionOf(hook)}`;
  }

  /** The error of a hook, with the hook's name at the start of the message. */
  private errorOf(hook: Hook, point: keyof Hook, error: unknown): unknown {
    return asHookError(this.titleOf(hook), point, error);
  }

  private titleOf(hook: Hook): string {
    return `Hook ${hook.name === undefined ? this.positionOf(hook) : `"${hook.name}"`}`;
  }

  /** The position of a hook in the list of hooks, from 1. */
  private positionOf(hook: Hook): number {
    return this.hooks.indexOf(hook) + 1;
  }

  /**
   * The earliest step deadline that a hook sets.
   * @throws AgentStop when the hook throws it; HoldfastError `HOOK_FAILED` as `call` does.
   */
  stepDeadline(context: HookContext): StepDeadline | undefined {
    let earliest: StepDeadline | undefined;
    for (const hook of this.at('stepDeadline')) {
      const found = this.stepDeadlineOf(hook, context);
      if (found && !(earliest && earliest.at <= found.at)) earliest = found;
    }
    return earliest;
  }

  private stepDeadlineOf(hook: Hook, context: HookContext): StepDeadline | undefined {
    try {
      const found = hook.stepDeadline?.(context.state, context);
      if (found === undefined || found === null) return undefined;
      const { at, signal } = found;
      if (typeof at === 'number' && !Number.isNaN(at)) return { at, signal: stopSignal(signal) };
      throw new UnacceptableResult(`The step deadline has an invalid instant: ${describeValue(at)}.`);
    } catch (error) {
      throw this.errorOf(hook, 'stepDeadline', error);
    }
  }

  /**
   * The first limit that the state has used up; the guards after it are not called. An open step counts already, so the
   * signal of a step limit does not stop it. Returns a promise only when a guard does.
   * @throws AgentStop when the guard throws it; HoldfastError `HOOK_FAILED` as `call` does.
   */
  checkLimits(
    state: AgentState,
    context: HookContext,
    from = 0,
  ): StopSignal | undefined | Promise<StopSignal | undefined> {
    const guards = this.at('checkLimit');
    for (let index = from; index < guards.length; index++) {
      const hook = guards[index] as Hook;
      try {
        const found = hook.checkLimit?.(state, context);
        if (isThenable(found)) return this.limitAfter(found, index, state, context);
        const signal = found && limitSignal(found, state);
        if (signal) return signal;
      } catch (error) {
        throw this.errorOf(hook, 'checkLimit', error);
      }
    }
    return undefined;
  }

  /**
   * Calls the hooks that can forbid a call of a model.
   * @throws AgentStop when the hook throws it; HoldfastError `HOOK_FAILED` as `call` does.
   */
  checkRequest(request: InferenceRequest, context: HookContext): void {
    for (const hook of this.at('checkRequest')) {
      try {
        hook.checkRequest?.(request, context);
      } catch (error) {
        throw this.errorOf(hook, 'checkRequest', error);
      }
    }
  }

  private async limitAfter(
    found: PromiseLike<StopSignal | undefined | void>,
    index: number,
    state: AgentState,
    context: HookContext,
  ): Promise<StopSignal | undefined> {
    try {
      const given = await found;
      const signal = given && limitSignal(given, state);
      if (signal) return signal;
    } catch (error) {
      throw this.errorOf(this.at('checkLimit')[index] as Hook, 'checkLimit', error);
    }
    return this.checkLimits(state, context, index + 1);
  }

  has(member: HookMember): boolean {
    return this.at(member).length > 0;
  }

  at(member: HookMember): readonly Hook[] {
    return this.byMember.get(member) ?? [];
  }

  /**
   * Calls one hook. Returns a promise only when the hook does.
   * @throws AgentStop when the hook throws it; HoldfastError `HOOK_FAILED` for any other error of the hook, and for a
   * result that is neither `undefined` nor valid at the point.
   */
  call<P extends HookPoint>(
    hook: Hook,
    point: P,
    subject: unknown,
    context: HookContext,
  ): ResultOf<P> | undefined | Promise<ResultOf<P> | undefined> {
    const given = { point, subject, before: context.state };
    let result: unknown;
    try {
      const method = hook[point] as (this: Hook, subject: unknown, context: HookContext) => unknown;
      result = method.call(hook, subject, context);
    } catch (error) {
      throw this.errorOf(hook, point, error);
    }
    if (result === undefined || result === null) return undefined;
    if (!isThenable(result)) return this.take<P>(hook, given, result);
    return Promise.resolve(result).then(
      (settled) => this.take<P>(hook, given, settled),
      (error) => {
        throw this.errorOf(hook, point, error);
      },
    );
  }

  private take<P extends HookPoint>(hook: Hook, given: HookInput, result: unknown): ResultOf<P> | undefined {
    try {
      return acceptResult<P>(given, result);
    } catch (error) {
      throw asMisfitError(this.titleOf(hook), given.point, result, error);
    }
  }
}

/** The checked signal of a guard; `undefined` for the signal of a step limit while a step is open. */
function limitSignal(given: StopSignal, { currentStep }: AgentState): StopSignal | undefined {
  const signal = stopSignal(given);
  return signal.reason === 'stepsLimitReached' && currentStep !== undefined ? undefined : signal;
}

const HOOK_MEMBERS: MemberNames = {
  functions: MEMBERS,
  values: ['name', 'priority'],
  advice: {
    limit: 'use "checkLimit"',
    guard: 'use "checkLimit"',
    deadline: 'use "stepDeadline"',
    toolUse: 'use "beforeToolUse"',
    onStepFinish: 'use "afterStep"',
    prepareStep: 'use "beforeInference"',
    afterLoad: SESSION_HOOK,
    beforeSave: SESSION_HOOK,
    afterSave: SESSION_HOOK,
  },
};

/** @throws TypeError `ARGUMENT_INVALID` for what is not a hook. */
export function requireHooks(hooks: readonly Hook<never>[]): void {
  for (const [index, hook] of hooks.entries()) requireHook(hook, index + 1);
}

function requireHook(hook: Hook<never>, place: number): void {
  if (mustBe.object.accepts(hook)) checkMembers(hook, place);
  if (typeof hook !== 'object' || !MEMBERS.some((member) => hook?.[member])) {
    const found = describeValue(hook);
    throw invalidArgument(
      `A hook must have at least one of ${MEMBERS.join(', ')}, found ${found}.`,
      TypeError,
    );
  }
  checkArgument(`The name of hook ${place}`, hook.name, NAME);
}

function checkMembers(hook: Hook<never>, place: number): void {
  const { name }: { readonly name?: unknown } = hook;
  const owner = typeof name === 'string' ? `hook ${JSON.stringify(name)}` : `hook ${place}`;
  checkHookMembers(hook, owner, HOOK_MEMBERS);
  checkArgument(`priority of ${owner}`, hook.priority, PRIORITY);
}
