import { mustBe, optionsCheck, type OptionChecks } from '../arguments.ts';
import { systemClock, type Clock } from '../clock.ts';
import { AgentState } from '../state/agent-state.ts';
import { neverSignal, RunAbort } from './stopping/abort.ts';
import { AgentRun } from './run/agent-run.ts';
import { compiledFor, type CompiledStep } from './run/compiled-step.ts';
import { loopFor, type InternalRunOptions, type LoopParts, type RunOptions } from './run/loop-parts.ts';
import { REDUCTIONS, WHEN_TOO_LONG, type Reduction } from './inference/context-limit.ts';
import { redactedListener, type Redact } from './redact.ts';
import {
  conversationWithCurrentToolTrace,
  messageCompiler,
  type MessageSelector,
} from './compile/compile-messages.ts';
import { requireChosenTool, requireDriver, TOOL_CHOICE, type Driver } from './inference/driver.ts';
import { EventStream } from './run/event-stream.ts';
import { announceTo, joinedListener, type AgentEventListener } from './steps/events.ts';
import { Fallback, type FallbackOptions } from './inference/fallback.ts';
import { retryPolicyOf, type InferenceRetryOptions } from './inference/retry-policy.ts';
import { guardsFor, modelIdOfState, retryLimit, type CostLimitOptions } from './stopping/guards.ts';
import { PRICES, type ModelIdOf, type ModelPrices } from './inference/model-prices.ts';
import { pricing } from './stopping/pricing.ts';
import { ExecutionBudget, type BudgetLimits } from '../state/execution/budget.ts';
import type { ToolChoice } from '../state/inference/request.ts';
import { LOOP_ADVICE, RUN_ADVICE } from './tools/option-advice.ts';
import { needsRunContext, type IfContextNeeded } from './tools/run-context.ts';
import type { Hook } from './hooks/hook.ts';
import { HookChain } from './hooks/hook-chain.ts';
import type { Tool } from './tools/tool-types.ts';
import { toolsByName } from './tools/tool.ts';

export interface AgentLoopOptions<Context = unknown> {
  /** Calls the model. */
  readonly driver: Driver;
  /** The tools that the model can request; default none. */
  readonly tools?: readonly Tool<unknown, unknown, Context>[];
  /** Default `auto`. */
  readonly toolChoice?: ToolChoice;
  readonly hooks?: readonly Hook<Context>[];
  /**
   * The limits of one execution. Without `maxSteps`, an execution may take 20 steps; `Infinity` sets no limit, as in
   * `ExecutionBudget.unlimited()`. `maxCost` requires `prices`.
   */
  readonly budget?: BudgetLimits;
  /** The prices of models, from which the loop computes the cost of responses. */
  readonly prices?: ModelPrices;
  /** The number of consecutive steps that may fail in all of their tool calls; no limit when absent. */
  readonly maxConsecutiveFailures?: number;
  /**
   * Selects the messages that a model sees; the loop repairs the selection. Default
   * `conversationWithCurrentToolTrace()`.
   */
  readonly compiler?: MessageSelector;
  /**
   * `continue` (the default): the model reads the error of a failed tool. `fail`: a failed tool ends the execution
   * `failed`.
   */
  readonly toolErrors?: 'continue' | 'fail';
  /** The number of tools of one step that may run at the same time; default 8. */
  readonly maxParallelTools?: number;
  /**
   * The longest value of a tool, in characters of its text or JSON, and the longest message of its error; default
   * 100,000. The loop truncates a longer one, in the state and for the model, and appends a note. A tool's own model
   * output is not truncated. `Infinity` sets no limit.
   */
  readonly maxToolResultLength?: number;
  /**
   * `answer`: the last step that the limit of steps allows must answer. Its request keeps the tools, forbids their calls, and
   * ends with a message that says so. Default: the last step is like the others, so an execution can end without an answer.
   */
  readonly finalStep?: 'answer';
  /**
   * How the loop shortens a request that the provider refused as too long, in this order. `summarize`: by the hooks with
   * `onContextTooLong`, such as that of `summarize()`. `shortenResults`: the oldest results of tools are shortened in the
   * request; the state keeps them. After each way the call is repeated once. Default: both, in this order. An empty list
   * repeats nothing.
   */
  readonly whenTooLong?: readonly Reduction[];
  /**
   * The largest outcome of a tool, in bytes of JSON with its model output and metadata; default 1,048,576. A store can lower
   * it. A larger outcome is not kept: the state and the model get its size and the limit instead, and the run continues.
   */
  readonly maxResultBytes?: number;
  /** Receive the events of every run of this loop. */
  readonly listeners?: readonly AgentEventListener[];
  /**
   * Redacts the content of events, as `redactedListener()` does, for the listeners of the loop, the listener of a run
   * and the readers of streams. The states that `run`, `iterate` and `result` return are not redacted.
   */
  readonly redact?: Redact;
  readonly clock?: Clock;
  /** How the loop repeats a call of the model that failed temporarily, such as by a rate limit. */
  readonly inferenceRetry?: InferenceRetryOptions;
  /** The models to call while the agent's own model fails. A list stands for `{ models }`. */
  readonly fallback?: FallbackOptions | FallbackOptions['models'];
}

/** The options of a run. They are required when the tools of the loop need a run context. */
export type RunArguments<Context> = IfContextNeeded<
  Context,
  [options: RunOptions<Context> & { readonly runContext: Context }],
  [options?: RunOptions<Context>]
>;

/**
 * A function from state to state: it takes steps until the execution ends, waits or is aborted. A loop stores nothing
 * between calls, so it can run any number of states at the same time.
 *
 * A state without an execution, or with a terminal one, starts a new execution, even when nothing was added to the
 * conversation: the loop calls the model again, and the budget counts from zero. Read `state.status` first to run a
 * state only when there is work. A state with an unfinished execution resumes it: completed tools do not run again, and
 * a step with a response causes no second inference.
 *
 * Errors that a driver, tool or hook throws are recorded in the returned state. The loop itself throws only for invalid
 * arguments and a failed checkpoint. `iterate` and `stream` throw at once, and `run` rejects, with a TypeError or
 * RangeError `ARGUMENT_INVALID` for a value that is not a state and for invalid limits, and with `RUN_CONTEXT_MISSING`
 * for a run without the run context that a tool needs.
 */
export interface AgentLoop<in Context = unknown> {
  /** True when a tool of the loop needs a run context. */
  readonly needsRunContext?: boolean;
  /** The tools of the agent, by name. A loop that an application wrote itself may omit them. */
  readonly tools?: ReadonlyMap<string, Tool>;
  /** Runs until the execution ends, waits or is aborted, and returns the last state. */
  run(state: AgentState, ...options: RunArguments<Context>): Promise<AgentState>;
  /**
   * Yields the state after every step, and the final state. A reader that stops early stops the run between two steps.
   */
  iterate(state: AgentState, ...options: RunArguments<Context>): AsyncGenerator<AgentState, undefined>;
  /** Streams all events, including text as it arrives; `result` is the last state. */
  stream(state: AgentState, ...options: RunArguments<Context>): EventStream<AgentState>;
  /**
   * Returns what the model received in a step of the current execution: each message of its input with the message that was
   * sent for it, in the form of the provider. It shows the system prompt of the state, without the changes of hooks. A loop
   * that an application wrote itself may omit this method.
   * @throws RangeError `ARGUMENT_INVALID` for an unknown step.
   */
  compiledFor?(state: AgentState, stepId: string): CompiledStep;
}

/** The options with a single value; the other options are lists. */
export const LOOP_SETTINGS: OptionChecks<Omit<AgentLoopOptions, 'tools' | 'hooks' | 'listeners'>> = {
  driver: mustBe.anything, // see requireDriver
  toolChoice: TOOL_CHOICE,
  budget: mustBe.object,
  prices: PRICES,
  maxConsecutiveFailures: mustBe.wholeNumber(0),
  compiler: mustBe.function,
  toolErrors: mustBe.oneOf(['continue', 'fail']),
  maxParallelTools: mustBe.number(1),
  maxToolResultLength: mustBe.number(1),
  maxResultBytes: mustBe.number(1_024),
  finalStep: mustBe.oneOf(['answer']),
  whenTooLong: WHEN_TOO_LONG,
  redact: mustBe.function,
  clock: mustBe.clock,
  inferenceRetry: mustBe.object,
  fallback: {
    expected: 'a list of models, or { models }',
    accepts: (value) => typeof value === 'object' && value !== null,
  },
};

export const LOOP_OPTIONS: OptionChecks<AgentLoopOptions> = {
  tools: mustBe.listOf('tools, as in tools: [add]'),
  hooks: mustBe.listOf('hooks, as in hooks: [audit]'),
  ...LOOP_SETTINGS,
  listeners: mustBe.listOf('functions', mustBe.function.accepts),
};

const checkLoopOptions = optionsCheck<AgentLoopOptions>('createAgentLoop', LOOP_OPTIONS, LOOP_ADVICE);

const checkRunOptions = optionsCheck<InternalRunOptions>(
  'loop.run',
  {
    signal: mustBe.signal,
    onEvent: mustBe.function,
    budget: mustBe.object,
    previousState: { expected: 'an AgentState', accepts: (value) => value instanceof AgentState },
    checkpoint: mustBe.objectWith('an object with save()', ['save']),
    onExhausted: mustBe.oneOf(['suspend', 'fail']),
    runContext: mustBe.anything,
    parent: { ...mustBe.anything, isInternal: true },
    session: { ...mustBe.anything, isInternal: true },
    awaitReader: { ...mustBe.anything, isInternal: true },
    stepBytes: { ...mustBe.anything, isInternal: true },
    changeGuards: { ...mustBe.anything, isInternal: true },
  },
  RUN_ADVICE,
);

/**
 * Creates a loop from a driver, tools, hooks and settings.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value, a missing driver, two
 * tools with the same name, and a hook without a hook method.
 * @example
 * const loop = createAgentLoop({ driver, tools: [add] });
 * const state = await loop.run(AgentState.empty().withUserMessage('What is 2 + 2?'));
 */
export function createAgentLoop<Context = unknown>(options: AgentLoopOptions<Context>): AgentLoop<Context>;
export function createAgentLoop(options: AgentLoopOptions): AgentLoop {
  const parts = loopParts(checkLoopOptions(options));
  const { listeners = [], redact } = options;

  function startRun(loop: LoopParts, state: AgentState, runOptions: InternalRunOptions): AgentRun {
    const { signal = neverSignal(), onEvent } = runOptions;
    const all = onEvent ? [...listeners, onEvent] : listeners;
    const isHeard = redact !== undefined && all.length > 0;
    const heard = isHeard ? [redactedListener((event) => announceTo(all, event), redact)] : all;
    return new AgentRun(state, loop, { ...runOptions, signal, listeners: heard });
  }

  async function run(state: AgentState, runOptions: InternalRunOptions = {}): Promise<AgentState> {
    return resultOf(startRun(loopFor(state, parts, checkRunOptions(runOptions)), state, runOptions));
  }

  function iterate(
    state: AgentState,
    runOptions: InternalRunOptions = {},
  ): AsyncGenerator<AgentState, undefined> {
    const loop = loopFor(state, parts, checkRunOptions(runOptions));
    return statesOf(() => startRun(loop, state, runOptions));
  }

  function stream(state: AgentState, runOptions: InternalRunOptions = {}): EventStream<AgentState> {
    const loop = loopFor(state, parts, checkRunOptions(runOptions));
    return streamOf(runOptions, (streamed) => resultOf(startRun(loop, state, streamed)));
  }

  const { tools, toolList } = parts;
  return Object.freeze({
    tools,
    run,
    iterate,
    stream,
    compiledFor: (state: AgentState, stepId: string) => compiledFor(parts, state, stepId),
    needsRunContext: needsRunContext(toolList),
  });
}

/** Runs to the end and returns the last state. @throws the error of a failed checkpoint. */
async function resultOf(run: AgentRun): Promise<AgentState> {
  try {
    await run.advance('end');
    return run.result();
  } finally {
    run.dispose();
  }
}

/** The states of a run, which starts when the reader requests the first of them. */
async function* statesOf(startRun: () => AgentRun): AsyncGenerator<AgentState, undefined> {
  const run = startRun();
  try {
    while (await run.advance('step')) yield run.state;
    yield run.result();
  } finally {
    run.dispose();
  }
}

/** The events of a run. A reader that stops early cancels the run. */
function streamOf(
  options: InternalRunOptions,
  run: (options: InternalRunOptions) => Promise<AgentState>,
): EventStream<AgentState> {
  const { signal, onEvent } = options;
  const readerGone = new AbortController();
  const either = signal ? AbortSignal.any([signal, readerGone.signal]) : readerGone.signal;
  const leave = (): void => readerGone.abort(new RunAbort('cancel', 'The reader closed the stream.'));
  return new EventStream((put, awaitReader) => {
    return run({ ...options, signal: either, onEvent: joinedListener(put, onEvent), awaitReader });
  }, leave);
}

function loopParts(options: AgentLoopOptions): LoopParts {
  const { driver, tools = [], hooks = [] } = options;
  requireDriver(driver);
  const modelIdOf: ModelIdOf = (llmConfig) => driver.modelId?.(llmConfig) ?? modelIdOfState(llmConfig);
  const cost = options.prices && { prices: options.prices, modelIdOf };
  const budget = budgetOf(options);
  const byName = toolsByName(tools);
  requireChosenTool(options.toolChoice, byName);
  return {
    driver,
    tools: byName,
    toolList: Object.freeze([...tools]),
    toolChoice: options.toolChoice ?? 'auto',
    hooks: new HookChain(hooks, guardsOf(options, budget, cost)),
    compile: messageCompiler(options.compiler ?? conversationWithCurrentToolTrace()),
    toolErrors: options.toolErrors ?? 'continue',
    maxParallelTools: options.maxParallelTools ?? 8,
    maxResultLength: options.maxToolResultLength ?? 100_000,
    resultLimits: { maxResultBytes: options.maxResultBytes ?? 2 ** 20, stepBytes: undefined },
    finalStep: options.finalStep,
    whenTooLong: options.whenTooLong ?? REDUCTIONS,
    budget,
    modelIdOf,
    cost,
    clock: options.clock ?? systemClock,
    retry: retryPolicyOf(options.inferenceRetry),
    fallback: options.fallback && new Fallback(options.fallback),
  };
}

const DEFAULT_MAX_STEPS = 20;

/** The limits of the loop. They are equal whether the caller passed an `ExecutionBudget` or an object of limits. */
function budgetOf({ budget = {} }: AgentLoopOptions): ExecutionBudget {
  const limits = ExecutionBudget.of(budget);
  return limits.maxSteps === undefined
    ? ExecutionBudget.of({ ...limits, maxSteps: DEFAULT_MAX_STEPS })
    : limits;
}

function guardsOf(
  { maxConsecutiveFailures }: AgentLoopOptions,
  budget: ExecutionBudget,
  cost: Required<CostLimitOptions> | undefined,
): readonly Hook[] {
  return [
    ...(cost ? [pricing(cost.prices, cost.modelIdOf)] : []),
    ...guardsFor(budget, cost),
    ...(maxConsecutiveFailures === undefined ? [] : [retryLimit(maxConsecutiveFailures)]),
  ];
}
