import { toInstant, type Instant } from '../../clock.ts';
import { checkArgument, mustBe, optionsCheck, type OptionsCheck } from '../../arguments.ts';
import { invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { ExecutionBudget, type BudgetLimits } from '../../state/execution/budget.ts';
import { stopSignal, type StopReason, type StopSignal } from '../../state/execution/continuation.ts';
import { FINISH_REASONS, type FinishReason } from '../../state/inference/inference-response.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import type { StepDeadline, Hook } from '../hooks/hook.ts';
import { PRICES, requirePrice, type ModelIdOf, type ModelPrices } from '../inference/model-prices.ts';
import { pricing } from './pricing.ts';

/** Guards run before other hooks. */
export const GUARD_PRIORITY = 1_000;

const COUNT = mustBe.wholeNumber(0);
const AMOUNT = mustBe.number(0);

interface Limit {
  readonly reason: StopReason;
  readonly unit: string;
  readonly spentIn: (state: AgentState) => number;
}

/** The limits of amounts, by the name of the guard. */
const LIMITS = {
  stepsLimit: { reason: 'stepsLimitReached', unit: 'steps', spentIn: (state) => state.stepCount },
  tokenLimit: { reason: 'tokenLimitReached', unit: 'tokens', spentIn: (state) => state.usage.totalTokens },
  timeLimit: {
    reason: 'timeLimitReached',
    unit: 'seconds',
    spentIn: (state) => state.execution?.workedSeconds ?? 0,
  },
  costLimit: { reason: 'costLimitReached', unit: 'dollars', spentIn: (state) => state.cost ?? 0 },
} as const satisfies Readonly<Record<string, Limit>>;

/**
 * Stops before a step beyond the limit, never in an open step. Steps are counted in the execution, so the count continues
 * after a resume, an approval or a change of process.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a whole number of at least 0.
 */
export function stepsLimit(maxSteps: number): Hook {
  checkArgument('maxSteps of stepsLimit', maxSteps, COUNT);
  return limitGuard('stepsLimit', maxSteps);
}

/**
 * Stops before a step once the sum of input and output tokens has reached the limit. Tokens that a provider did not
 * report do not count; `usage.unreportedCalls` counts the calls without a report.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a number of at least 0.
 */
export function tokenLimit(maxTokens: number): Hook {
  checkArgument('maxTokens of tokenLimit', maxTokens, AMOUNT);
  return limitGuard('tokenLimit', maxTokens);
}

/**
 * Stops once the execution has worked for this number of seconds, also during a call: a partial response is recorded,
 * and a running tool is interrupted. Time in which the execution waits, no process works on it, or the machine sleeps does not
 * count.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a number of at least 0.
 */
export function timeLimit(maxSeconds: number): Hook {
  checkArgument('maxSeconds of timeLimit', maxSeconds, AMOUNT);
  return Object.freeze<Hook>({
    ...limitGuard('timeLimit', maxSeconds),
    stepDeadline(state, { clock }) {
      const spent = LIMITS.timeLimit.spentIn(state);
      const at = clock.now() + Math.max(0, maxSeconds - spent) * 1000;
      return { at, signal: limitReachedSignal('timeLimit', maxSeconds, Math.max(spent, maxSeconds)) };
    },
  });
}

/** Stops at an instant, also during a call. @throws RangeError `ARGUMENT_INVALID` for an invalid instant. */
export function deadline(at: Instant): Hook {
  const moment = toInstant(at);
  const date = new Date(moment);
  if (Number.isNaN(date.getTime()))
    throw invalidArgument(`The deadline must be a valid date, found ${moment}.`);
  const signal = stopSignal({
    reason: 'timeLimitReached',
    message: `The deadline, ${date.toISOString()}, has passed.`,
    context: { deadline: moment },
    source: 'deadline',
  });
  return guard('deadline', (_, { clock }) => (clock.now() >= moment ? signal : undefined), {
    at: moment,
    signal,
  });
}

/** The facts that a cost limit needs. */
export interface CostLimitOptions {
  readonly prices: ModelPrices;
  /** Returns the id of the model that a call with these settings goes to; default: the model that the settings name. */
  readonly modelIdOf?: ModelIdOf;
}

// Checks inside of functions are not in the bundle of a program that does not call them.
const checkCostOptions: OptionsCheck<CostLimitOptions> = (options, owner) =>
  optionsCheck<CostLimitOptions>(
    'costLimit',
    { prices: mustBe.required(PRICES), modelIdOf: mustBe.function },
    { model: 'the state names the model; pass "modelIdOf" if calls go to another model' },
  )(options, owner);

/**
 * Stops before a step once the cost has reached this number of US dollars. When the requested model, after all hooks,
 * has no price, the execution fails with `PRICE_UNKNOWN` before the call. The guard computes the cost of a response
 * from its tokens if the provider did not report the cost. A response without tokens does not count;
 * `usage.unpricedCalls` counts such responses.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a number of at least 0.
 */
export function costLimit(maxCost: number, options: CostLimitOptions): Hook {
  checkArgument('maxCost of costLimit', maxCost, AMOUNT);
  const { prices, modelIdOf = modelIdOfState } = checkCostOptions(options);
  const checkRequest: Hook['checkRequest'] = ({ llmConfig }) => requirePrice(prices, modelIdOf(llmConfig));
  return Object.freeze<Hook>({
    ...pricing(prices, modelIdOf),
    ...limitGuard('costLimit', maxCost),
    checkRequest,
  });
}

/** The model that settings name. */
export const modelIdOfState: ModelIdOf = (llmConfig) => llmConfig?.model;

const FINISH_REASON = mustBe.oneOf(FINISH_REASONS);

/**
 * Stops after a response with one of these finish reasons, unless the step was stopped before.
 * @throws RangeError `ARGUMENT_INVALID` for an unknown reason.
 */
export function finishReason(...reasons: readonly FinishReason[]): Hook {
  for (const reason of reasons) checkArgument('A reason of finishReason', reason, FINISH_REASON);
  return Object.freeze<Hook>({
    name: 'finishReason',
    priority: GUARD_PRIORITY,
    afterStep(state, { clock }) {
      const reason = state.currentStep?.response?.finishReason;
      const isStopped = state.execution?.continuation.hasNewSignals;
      if (isStopped || reason === undefined || !reasons.includes(reason)) return undefined;
      const message = `The model stopped: ${reason}.`;
      const context = { finishReason: reason, reasons };
      return state.withStopSignal(
        { reason: 'finishReasonReceived', message, context, source: 'finishReason' },
        clock.now(),
      );
    },
  });
}

/**
 * Stops after more consecutive failed steps than the limit. A step has failed when all of its tool calls failed or were
 * blocked, or when its response reached the output limit inside them.
 * @throws RangeError `ARGUMENT_INVALID` when the limit is not a whole number of at least 0.
 */
export function retryLimit(maxConsecutiveFailures: number): Hook {
  checkArgument('maxConsecutiveFailures of retryLimit', maxConsecutiveFailures, COUNT);
  return guard('retryLimit', ({ stepExecutions }) => {
    let failures = 0;
    while (failures <= maxConsecutiveFailures && hasFailed(stepExecutions.at(-1 - failures)?.step))
      failures++;
    if (failures <= maxConsecutiveFailures) return undefined;
    return stopSignal({
      reason: 'retryLimitReached',
      message: `${failures} consecutive steps have failed${whyLast(stepExecutions.at(-1)?.step)}.`,
      context: { limit: maxConsecutiveFailures },
      source: 'retryLimit',
    });
  });
}

function hasFailed(step: AgentStep | undefined): boolean {
  if (step === undefined) return false;
  if (isCut(step)) return true;
  if (step.toolExecutions.length === 0) return false;
  return step.toolExecutions.every(({ rule }) => rule?.countsAsFailure);
}

function whyLast(step: AgentStep | undefined): string {
  return step && isCut(step) ? ': the last response reached its output limit inside a tool call' : '';
}

/** True for a response that reached the output limit inside its tool calls, which then do not run. */
function isCut({ response, hasToolCalls }: AgentStep): boolean {
  return response?.finishReason === 'length' && hasToolCalls;
}

/**
 * Stops before a call of a model when `isCancelled` returns true, such as for a flag in a database. To abort running
 * work, use an AbortSignal.
 */
export function cancellation(
  isCancelled: (state: AgentState) => boolean | Promise<boolean>,
  message = 'The execution was cancelled.',
): Hook {
  checkArgument('isCancelled of cancellation', isCancelled, mustBe.function);
  const signal = stopSignal({ reason: 'userRequested', message, source: 'cancellation' });
  return guard('cancellation', async (state) => ((await isCancelled(state)) ? signal : undefined));
}

/**
 * The guards of a budget, one for each of its limits. `maxCost` requires `cost`, which has the prices.
 * @throws RangeError `ARGUMENT_INVALID` for an invalid limit, and for `maxCost` without prices.
 */
export function guardsFor(budget: BudgetLimits, cost?: CostLimitOptions): readonly Hook[] {
  const { maxSteps, maxTokens, maxSeconds, maxCost, deadline: moment } = ExecutionBudget.of(budget);
  if (cost !== undefined) checkCostOptions(cost, 'guardsFor');
  if (maxCost !== undefined && cost === undefined)
    throw invalidArgument('A budget with maxCost needs the prices of the models.');
  const guards: Hook[] = [];
  if (maxSteps !== undefined && maxSteps < Infinity) guards.push(stepsLimit(maxSteps));
  if (maxTokens !== undefined) guards.push(tokenLimit(maxTokens));
  if (maxSeconds !== undefined) guards.push(timeLimit(maxSeconds));
  if (maxCost !== undefined && cost) guards.push(costLimit(maxCost, cost));
  if (moment !== undefined) guards.push(deadline(moment));
  return guards;
}

function guard(name: string, check: NonNullable<Hook['checkLimit']>, deadline?: StepDeadline): Hook {
  return Object.freeze<Hook>({
    name,
    priority: GUARD_PRIORITY,
    checkLimit: check,
    ...(deadline && { stepDeadline: () => deadline }),
  });
}

function limitGuard(name: keyof typeof LIMITS, most: number): Hook {
  const { spentIn } = LIMITS[name];
  return guard(name, (state) => {
    const spent = spentIn(state);
    return spent < most ? undefined : limitReachedSignal(name, most, spent);
  });
}

function limitReachedSignal(source: keyof typeof LIMITS, most: number, spent: number): StopSignal {
  const { reason, unit } = LIMITS[source];
  const message = `${spent} of ${most} ${unit} are used up.`;
  return stopSignal({ reason, message, context: { limit: most, spent }, source });
}
