import type { OptionChecks } from '../arguments.ts';
import { mustBe, optionsCheck } from '../arguments.ts';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { AgentState } from '../state/agent-state.ts';
import { neverSignal, RunAbort } from './stopping/abort.ts';
import { AgentRun } from './agent-run.ts';
import { loopFor } from './loop-parts.ts';
import type { LoopParts } from './loop-parts.ts';
import type { Redact } from './redact.ts';
import { redactedListener } from './redact.ts';
import { conversationWithCurrentToolTrace, messageCompiler } from './compile/compile-messages.ts';
import type { MessageSelector } from './compile/compile-messages.ts';
import { requireChosenTool, requireDriver, TOOL_CHOICE } from './inference/driver.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Driver } from './inference/driver.ts';
import { EventStream } from './event-stream.ts';
import type { AgentEventListener } from './events.ts';
import { announceTo } from './events.ts';
import type { FallbackOptions } from './inference/fallback.ts';
import { Fallback } from './inference/fallback.ts';
import type { InferenceRetryOptions } from './inference/retry-policy.ts';
import { retryPolicyOf } from './inference/retry-policy.ts';
import type { CostLimitOptions } from './stopping/guards.ts';
import { guardsFor, modelIdOfState, retryLimit } from './stopping/guards.ts';
import type { ModelIdOf, ModelPrices } from './stopping/model-prices.ts';
import { PRICES, pricing } from './stopping/model-prices.ts';
import { ExecutionBudget } from '../state/execution/budget.ts';
import type { ToolChoice } from '../state/inference/request.ts';
import type { BudgetLimits } from '../state/execution/budget.ts';
import { LOOP_ADVICE, RUN_ADVICE } from './option-advice.ts';
import type { ParentRun } from './parent-run.ts';
import type { Hook } from './hooks/hook.ts';
import { HookChain } from './hooks/hook-chain.ts';
import type { Tool } from './tools/tool.ts';
import { toolsByName } from './tools/tool.ts';

export interface AgentLoopOptions {
  /** Calls the model. */
  readonly driver: Driver;
  /** What the model may ask for; default none. */
  readonly tools?: readonly Tool[];
  /** Default `auto`. */
  readonly toolChoice?: ToolChoice;
  readonly hooks?: readonly Hook[];
  /**
   * What one execution may use. Without `maxSteps` it may take 20 steps; `Infinity` for no limit, as
   * `ExecutionBudget.unlimited()` has it. A limit of cost needs `prices`.
   */
  readonly budget?: BudgetLimits;
  /** What models cost: makes the cost of answers known. */
  readonly prices?: ModelPrices;
  /** How many steps may fail one after another, in all of their tool calls; no limit when absent. */
  readonly maxConsecutiveFailures?: number;
  /** What a model sees of the state, repaired whatever it is; default `conversationWithCurrentToolTrace()`. */
  readonly compiler?: MessageSelector;
  /** A failed tool is a result that the model reads (`continue`, the default), or ends the execution `failed`. */
  readonly toolErrors?: 'continue' | 'fail';
  /** How many tools of one step may run at the same time; default 8. */
  readonly maxParallelTools?: number;
  /**
   * Characters that a tool's value may have, as text or JSON, and the message of its error; default 100,000. A longer one
   * is cut, in the state and for the model, and says so; an output that the tool makes for the model is its own affair.
   * `Infinity` for no limit.
   */
  readonly maxToolResultLength?: number;
  /** Are told of every run of this loop. */
  readonly listeners?: readonly AgentEventListener[];
  /**
   * What listeners may see of content, as `redactedListener()` has it: those of the loop, those of a run, and the readers of
   * streams. The states that `run`, `iterate` and `result` give are not touched.
   */
  readonly redact?: Redact;
  readonly clock?: Clock;
  /** How a call of the model is repeated that failed for a while, such as by a rate limit. */
  readonly inferenceRetry?: InferenceRetryOptions;
  /** Models to call while the agent's own model fails. A list is short for `{ models }`. */
  readonly fallback?: FallbackOptions | FallbackOptions['models'];
}

export interface RunOptions {
  /** Aborts the run; a `RunAbort` as the reason says what the abort means, any other cancels. */
  readonly signal?: AbortSignal | undefined;
  /** Is told of this run. */
  readonly onEvent?: AgentEventListener | undefined;
  /** Limits of this run besides those of the loop, counted likewise: the tighter one holds. */
  readonly budget?: BudgetLimits | undefined;
  /** An earlier form of the state: what has happened since, such as that a person denied a call, is announced too. */
  readonly previousState?: AgentState | undefined;
  /** Keeps the states of the run as it goes on. */
  readonly checkpoint?: Checkpoint | undefined;
  /** The `onExhausted` of this run, where the loop's `inferenceRetry` has none. */
  readonly onExhausted?: 'suspend' | 'fail' | undefined;
  /** The run in which this one is a tool. @internal */
  readonly parent?: ParentRun | undefined;
}

/**
 * A function from state to state: it takes steps until nothing is left to do or something says stop. It keeps
 * nothing between calls, so one loop can run any number of states at the same time.
 *
 * A state between executions, or with one that is over, begins a new execution, also when nothing was added since: the
 * model is asked again, and a budget counts from the start. To go on only where there is something to do, look at
 * `state.status` first. One with an unfinished execution is taken up where it stands: finished tools are not run again,
 * an answered step is not inferred again.
 *
 * Whatever a driver, tool or hook throws ends up in the state that is returned. Only misuse throws: a TypeError or
 * RangeError `ARGUMENT_INVALID` for what is not a state and for limits that cannot be, from `iterate` and `stream` at
 * once, from `run` as a rejection.
 */
export interface AgentLoop {
  /** Runs to the end and returns the last state. */
  run(state: AgentState, options?: RunOptions): Promise<AgentState>;
  /** The state after every step, and the final one. Leaving early stops the run between two steps. */
  iterate(state: AgentState, options?: RunOptions): AsyncGenerator<AgentState, undefined>;
  /** Everything that happens, text as it arrives included; `result` is the last state. */
  stream(state: AgentState, options?: RunOptions): EventStream<AgentState>;
}

/** The options that are one thing, not a list. */
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

const checkRunOptions = optionsCheck<RunOptions>(
  'loop.run',
  {
    signal: mustBe.signal,
    onEvent: mustBe.function,
    budget: mustBe.object,
    previousState: { expected: 'an AgentState', accepts: (value) => value instanceof AgentState },
    checkpoint: mustBe.objectWith('an object with save()', ['save']),
    onExhausted: mustBe.oneOf(['suspend', 'fail']),
    parent: { ...mustBe.anything, isInternal: true },
  },
  RUN_ADVICE,
);

/**
 * A loop from a driver, tools, and whatever else takes part.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit, without a driver,
 * for two tools of one name, and for a hook that has none of the points.
 * @example
 * const loop = createAgentLoop({ driver, tools: [add] });
 * const state = await loop.run(AgentState.empty().withUserMessage('What is 2 + 2?'));
 */
export function createAgentLoop(options: AgentLoopOptions): AgentLoop {
  const parts = loopParts(checkLoopOptions(options));
  const { listeners = [], redact } = options;

  function startRun(loop: LoopParts, state: AgentState, runOptions: RunOptions): AgentRun {
    const { signal = neverSignal(), onEvent, previousState, checkpoint, parent } = runOptions;
    const all = onEvent ? [...listeners, onEvent] : listeners;
    const heard = redact ? redactedListeners(all, redact) : all;
    return new AgentRun(state, loop, { signal, listeners: heard, previousState, checkpoint, parent });
  }

  async function run(state: AgentState, runOptions: RunOptions = {}): Promise<AgentState> {
    return resultOf(startRun(loopFor(state, parts, checkRunOptions(runOptions)), state, runOptions));
  }

  function iterate(state: AgentState, runOptions: RunOptions = {}): AsyncGenerator<AgentState, undefined> {
    const loop = loopFor(state, parts, checkRunOptions(runOptions));
    return statesOf(() => startRun(loop, state, runOptions));
  }

  function stream(state: AgentState, runOptions: RunOptions = {}): EventStream<AgentState> {
    const loop = loopFor(state, parts, checkRunOptions(runOptions));
    return streamOf(runOptions, (streamed) => resultOf(startRun(loop, state, streamed)));
  }

  return Object.freeze({ run, iterate, stream });
}

function redactedListeners(
  listeners: readonly AgentEventListener[],
  redact: Redact,
): readonly AgentEventListener[] {
  if (listeners.length === 0) return listeners;
  return [redactedListener((event) => announceTo(listeners, event), redact)];
}

/** Runs to the end. @throws what a checkpoint has thrown. */
async function resultOf(run: AgentRun): Promise<AgentState> {
  try {
    await run.advance('end');
    return run.result();
  } finally {
    run.dispose();
  }
}

/** The states of a run, which starts when the first of them is requested. */
async function* statesOf(startRun: () => AgentRun): AsyncGenerator<AgentState, undefined> {
  const run = startRun();
  try {
    while (await run.advance('step')) yield run.state;
    yield run.result();
  } finally {
    run.dispose();
  }
}

/** The events of a run; a reader that leaves the stream cancels the run. */
function streamOf(
  options: RunOptions,
  run: (options: RunOptions) => Promise<AgentState>,
): EventStream<AgentState> {
  const { signal, onEvent } = options;
  const readerGone = new AbortController();
  const either = signal ? AbortSignal.any([signal, readerGone.signal]) : readerGone.signal;
  const work = (put: AgentEventListener): Promise<AgentState> => {
    const listener: AgentEventListener = onEvent ? (event) => (put(event), onEvent(event)) : put;
    return run({ ...options, signal: either, onEvent: listener });
  };
  const leave = (): void => readerGone.abort(new RunAbort('cancel', 'The reader of the stream left.'));
  return new EventStream(work, leave);
}

function loopParts(options: AgentLoopOptions): LoopParts {
  const { driver, tools = [], hooks = [] } = options;
  requireDriver(driver);
  const cost = costOptionsOf(options);
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
    budget,
    cost,
    clock: options.clock ?? systemClock,
    retry: retryPolicyOf(options.inferenceRetry),
    fallback: options.fallback && new Fallback(options.fallback),
  };
}

const DEFAULT_MAX_STEPS = 20;

/** The limits of the loop: the same whether they were given as a value of the class, in a definition or by a builder. */
function budgetOf({ budget = {} }: AgentLoopOptions): ExecutionBudget {
  const limits = ExecutionBudget.of(budget);
  return limits.maxSteps === undefined
    ? ExecutionBudget.of({ ...limits, maxSteps: DEFAULT_MAX_STEPS })
    : limits;
}

function costOptionsOf({ driver, prices }: AgentLoopOptions): Required<CostLimitOptions> | undefined {
  const modelIdOf: ModelIdOf = (llmConfig) => driver.modelId?.(llmConfig) ?? modelIdOfState(llmConfig);
  return prices && { prices, modelIdOf };
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
