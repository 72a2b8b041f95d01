import { mustBe, optionsCheck } from '../../arguments.ts';
import { systemClock, type Clock } from '../../clock.ts';
import type { JsonValue } from '../../json.ts';
import { AgentState } from '../../state/agent-state.ts';
import { ExecutionBudget } from '../../state/execution/budget.ts';
import type { CallUsage, Usage } from '../../state/inference/usage.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import type { AgentEvent } from '../steps/events.ts';
import { neverSignal } from '../stopping/abort.ts';

/**
 * The facts of the call that a tool receives, and the functions that it can call. After the attempt has completed or
 * timed out, calls of these functions have no effect.
 */
export interface ToolContext<Context = unknown> {
  /** The id that the model gave the call. */
  readonly toolCallId: string;
  /**
   * The idempotency key of the call. Every attempt at the call has the same key. Pass it to services that support
   * idempotency keys. A step that was not saved before its process died starts again, with new calls and new keys.
   */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborts when the run is aborted, at the step deadline, and at the tool's timeout. */
  readonly signal: AbortSignal;
  /** The agent as it was when the attempt began. */
  readonly state: AgentState;
  readonly clock: Clock;
  /** The run context: the value that the caller passed to the run. `undefined` when the caller passed none. */
  readonly runContext: Context;
  /** The progress that an earlier attempt at this call saved with `saveProgress`. */
  readonly progress: JsonValue | undefined;
  /**
   * Saves progress in the state for a later attempt.
   * @throws HoldfastError `NOT_JSON` for a value that is not JSON; `TOOL_RESULT_TOO_LARGE` for one that the store of the
   * session does not take.
   */
  readonly saveProgress: (progress: JsonValue) => void;
  /**
   * Adds the tool's own usage, such as the inference of a subagent, to the usage of the execution.
   * @throws HoldfastError `CONTEXT_INVALID` for invalid numbers.
   */
  readonly addUsage: (usage: Usage | CallUsage) => void;
  /** The remaining budget of the loop. */
  readonly remaining: () => ExecutionBudget;
  /** Passes an event from inside the tool to the listeners of the run. */
  readonly emit: (event: AgentEvent) => void;
}

/** The facts of a call that `needsApproval` receives. */
export type ApprovalContext<Context = unknown> = Pick<
  ToolContext<Context>,
  'toolCallId' | 'state' | 'signal' | 'clock' | 'runContext'
>;

const checkInit = optionsCheck<Partial<ToolContext>>('toolContext', {
  toolCallId: mustBe.string,
  idempotencyKey: mustBe.string,
  attempt: mustBe.wholeNumber(1),
  signal: mustBe.signal,
  state: { expected: 'an AgentState', accepts: (value) => value instanceof AgentState },
  clock: mustBe.clock,
  runContext: mustBe.anything,
  progress: mustBe.anything,
  saveProgress: mustBe.function,
  addUsage: mustBe.function,
  remaining: mustBe.function,
  emit: mustBe.function,
});

/**
 * Creates a context for calling a tool in a test: it has no listeners and no limits, and stores nothing. Pass the run
 * context of a tool of `toolFor()` as `runContext`.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown member or an invalid value.
 */
export function toolContext<Context>(
  init: Partial<ToolContext<Context>> & Pick<ToolContext<Context>, 'runContext'>,
): ToolContext<Context>;
/**
 * Creates a context without a run context.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown member or an invalid value.
 */
export function toolContext(init?: Partial<ToolContext>): ToolContext;
export function toolContext(init: Partial<ToolContext> = {}): ToolContext {
  checkInit(init);
  const clock = init.clock ?? systemClock;
  return {
    toolCallId: 'call_1',
    idempotencyKey: ToolExecutionId.create(clock),
    attempt: 1,
    signal: neverSignal(),
    state: AgentState.empty({ at: clock.now() }),
    clock,
    runContext: undefined,
    progress: undefined,
    saveProgress: () => undefined,
    addUsage: () => undefined,
    remaining: () => ExecutionBudget.unlimited(),
    emit: () => undefined,
    ...init,
  };
}
