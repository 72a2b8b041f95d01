import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../errors.ts';
import { AgentState } from '../state/agent-state.ts';
import { isAgentStop, stopSignal } from '../state/continuation.ts';
import { toErrorRecord } from '../state/error-record.ts';
import { InferenceResponse } from '../state/inference.ts';
import { List } from '../state/list.ts';
import type { ToolCallPart } from '../state/messages.ts';
import { checkedParts } from '../state/messages.ts';
import { ToolExecution } from '../state/tool-execution.ts';
import type { CutOff, Hook, HookContext, HookPoint } from './hook.ts';

/** The points whose hooks take a state and may return another. */
export type StatePoint = 'beforeExecution' | 'beforeStep' | 'afterStep' | 'onStop' | 'afterExecution';

/** What a hook of a point may return. */
type ResultOf<P extends HookPoint> = Awaited<ReturnType<NonNullable<Hook[P]>>> & object;

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
  private readonly timed: readonly Hook[];
  private readonly hooks: readonly Hook[];

  /** @throws TypeError `ARGUMENT_INVALID` for what is not a hook. */
  constructor(hooks: readonly Hook[]) {
    for (const hook of hooks) {
      if (typeof hook === 'object' && [...POINTS, 'cutOff' as const].some((point) => hook?.[point])) continue;
      const found = describeValue(hook);
      throw invalidArgument(`A hook has at least one of ${POINTS.join(', ')}; found ${found}.`, TypeError);
    }
    this.hooks = hooks;
    const ordered = hooks.toSorted((left, right) => (right.priority ?? 0) - (left.priority ?? 0));
    this.timed = ordered.filter((hook) => hook.cutOff !== undefined);
    this.byPoint = new Map(
      POINTS.map((point) => [point, ordered.filter((hook) => hook[point] !== undefined)]),
    );
  }

  /** The same with others, which are called before those of their priority. */
  with(hooks: readonly Hook[]): HookChain {
    return hooks.length === 0 ? this : new HookChain([...hooks, ...this.hooks]);
  }

  /**
   * The earliest moment at which a hook wants work to be cut off.
   * @throws AgentStop as the hook threw it; HoldfastError `HOOK_FAILED` as `call` does.
   */
  cutOff(context: HookContext): CutOff | undefined {
    let earliest: CutOff | undefined;
    for (const hook of this.timed) {
      const found = cutOffOf(hook, context);
      if (found && !(earliest && earliest.at <= found.at)) earliest = found;
    }
    return earliest;
  }

  /** Is there a hook at the point? */
  has(point: HookPoint): boolean {
    return this.at(point).length > 0;
  }

  /** The hooks of a point. */
  at(point: HookPoint): readonly Hook[] {
    return this.byPoint.get(point) ?? [];
  }

  /**
   * Calls one hook. A promise only when the hook returned one.
   * @throws AgentStop as the hook threw it; HoldfastError `HOOK_FAILED` for anything else that it throws, and for
   * a result that is neither nothing nor what the point takes.
   */
  call<P extends HookPoint>(
    hook: Hook,
    point: P,
    subject: unknown,
    context: HookContext,
  ): ResultOf<P> | undefined | Promise<ResultOf<P> | undefined> {
    const place = { hook, point, subject, before: context.state };
    let result: unknown;
    try {
      const method = hook[point] as (this: Hook, subject: unknown, context: HookContext) => unknown;
      result = method.call(hook, subject, context);
    } catch (error) {
      throw asHookError(place, error);
    }
    if (result === undefined || result === null) return undefined;
    if (!isThenable(result)) return takeResult(place, result);
    return Promise.resolve(result).then(
      (settled) => takeResult<P>(place, settled),
      (error) => {
        throw asHookError(place, error);
      },
    );
  }
}

function cutOffOf(hook: Hook, context: HookContext): CutOff | undefined {
  try {
    const found = hook.cutOff?.(context.state, context);
    if (found === undefined || found === null) return undefined;
    const { at, signal } = found;
    if (typeof at === 'number' && !Number.isNaN(at)) return { at, signal: stopSignal(signal) };
    throw new Misfit(`It returned ${describeValue(at)} as the moment.`);
  } catch (error) {
    throw asHookError({ hook, point: 'cutOff' }, error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

interface Place extends Given {
  readonly hook: Hook;
  readonly point: HookPoint;
}

/** What goes wrong in a hook is named after it; what a hook finds on purpose keeps its name. */
function asHookError({ hook, point }: { hook: Hook; point: keyof Hook }, error: unknown): unknown {
  if (isAgentStop(error) || hasErrorCode(error, 'PRICE_UNKNOWN')) return error;
  const reason = toErrorRecord(error).message;
  return new HoldfastError('HOOK_FAILED', `${nameOf(hook)} failed in ${point}: ${reason}`, { cause: error });
}

function takeResult<P extends HookPoint>(place: Place, result: unknown): ResultOf<P> | undefined {
  if (result === undefined || result === null) return undefined;
  const { hook, point } = place;
  try {
    return taken(point, result, place) as ResultOf<P>;
  } catch (error) {
    const misfit = error instanceof Misfit ? error.message : `${describeValue(result)}, which does not fit`;
    const expected = MEMBERS[point] ? 'an object of changes' : 'a state';
    throw new HoldfastError(
      'HOOK_FAILED',
      `${nameOf(hook)} returned ${misfit} from ${point}; it may return ${expected} or nothing.`,
      error instanceof Misfit ? {} : { cause: error },
    );
  }
}

/** What the hook returned, in words that follow "returned". */
class Misfit extends Error {}

interface Given {
  readonly before: AgentState;
  readonly subject: unknown;
}

/** Takes in a part of what a hook returned, checked and frozen. */
type Take = (value: unknown, given: Given) => unknown;

const takeState: Take = (value, { before }) => {
  if (!(value instanceof AgentState)) throw new Misfit(`${describeValue(value)} as the state`);
  if (!continues(before, value)) {
    throw new Misfit(
      'a state that does not follow from the one it was given: it is of another time or agent',
    );
  }
  return value;
};

const takeRequest: Take = (value) => {
  const isRequest =
    typeof value === 'object' && value !== null && 'messages' in value && value.messages instanceof List;
  if (!isRequest) throw new Misfit('a request without a list of messages');
  return value;
};

const takeResponse: Take = (value) => {
  if (!(value instanceof InferenceResponse)) throw new Misfit(`${describeValue(value)} as the response`);
  return value;
};

const takeCall: Take = (value, { subject }) => {
  const [call] = checkedParts('assistant', [value as ToolCallPart]);
  if (call?.type !== 'tool-call' || call.toolCallId !== (subject as ToolCallPart).toolCallId) {
    throw new Misfit('another call than it was given: a changed call keeps its toolCallId');
  }
  return call;
};

const takeBlock: Take = (value) => {
  if (typeof value !== 'string') throw new Misfit(`${describeValue(value)} as the reason of a block`);
  return value;
};

const takeToolExecution: Take = (value, { subject }) => {
  if (!(value instanceof ToolExecution)) throw new Misfit(`${describeValue(value)} as the tool execution`);
  if (value.id !== (subject as ToolExecution).id || value.isRunning) {
    throw new Misfit('another tool execution than it was given, or one without an outcome');
  }
  return value === subject ? value : ToolExecution.fromJSON(value.toJSON());
};

/** What hooks of these points may change; those of the other points return a state. */
const MEMBERS: { readonly [P in HookPoint]?: Readonly<Record<string, Take>> } = {
  beforeInference: { state: takeState, request: takeRequest },
  afterInference: { state: takeState, response: takeResponse },
  beforeToolUse: { state: takeState, call: takeCall, block: takeBlock },
  afterToolUse: { state: takeState, toolExecution: takeToolExecution },
};

function taken(point: HookPoint, result: unknown, given: Given): unknown {
  const members = MEMBERS[point];
  if (members === undefined) return takeState(result, given);
  if (typeof result !== 'object' || Array.isArray(result)) throw new Misfit(describeValue(result));
  if (result instanceof AgentState) throw new Misfit('a bare state');
  const change: Record<string, unknown> = {};
  for (const [name, take] of Object.entries(members)) {
    const value = (result as Record<string, unknown>)[name];
    if (value !== undefined) change[name] = take(value, given);
  }
  return change;
}

/** Is the second state the first with something added? What ran must not be forgotten: it would be run again. */
function continues({ agentId, execution: was }: AgentState, after: AgentState): boolean {
  const { execution: is } = after;
  if (was === is) return agentId === after.agentId;
  if (was === undefined || is === undefined || agentId !== after.agentId) return false;
  const [step, stepAfter] = [was.currentStep, is.currentStep];
  const isOpen = is.stepExecutions.length === was.stepExecutions.length;
  return (
    is.executionId === was.executionId &&
    is.isTerminal >= was.isTerminal &&
    is.stepExecutions.length >= was.stepExecutions.length &&
    is.continuation.signals.length >= was.continuation.signals.length &&
    (!isOpen || step === undefined || step.id === stepAfter?.id) &&
    (!isOpen || step?.response === undefined || stepAfter?.response !== undefined) &&
    (!isOpen ||
      (step?.toolExecutions ?? []).every(({ id }) =>
        stepAfter?.toolExecutions.some((known) => known.id === id),
      ))
  );
}

function nameOf(hook: Hook): string {
  return hook.name === undefined ? 'A hook' : `Hook "${hook.name}"`;
}
