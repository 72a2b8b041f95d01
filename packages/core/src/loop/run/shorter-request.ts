import type { ErrorCode } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { InferenceFailure } from '../../state/inference/inference-failure.ts';
import { Usage } from '../../state/inference/usage.ts';
import { DriverError, driverFailureOf, toldError } from '../inference/driver-error.ts';
import type { InferenceRequest } from '../inference/driver.ts';
import { limitIn, type Reduction } from '../inference/context-limit.ts';
import { failuresInSeries, failureToRepeat } from '../inference/retry-policy.ts';
import { tokensOf, tokensOfRequest, tokensOfStart } from '../inference/token-estimate.ts';
import { withShortResults } from '../sending/short-results.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { nextAction } from '../steps/stepper.ts';
import { shortenedTo, type CallingRun } from './call-model.ts';
import type { RunHooks, TooLongFacts } from './run-hooks.ts';

/** The part of a run that makes its requests shorter. */
export interface ReducingRun extends CallingRun {
  readonly hooks: RunHooks;
  /** True when work that costs time or money may start. */
  mayBegin(): boolean;
  change(state: AgentState): void;
}

/** True when a way is left to repeat the refused call with a shorter request. */
export function canBeShorter(run: ReducingRun, error: unknown, request: InferenceRequest): boolean {
  if (driverFailureOf(error).kind !== 'contextTooLong' || run.loop.retry.maxElapsedSeconds === 0)
    return false;
  const target = targetOf(run, toErrorRecord(error).message, request);
  const refused = refusalsBy(run.loop.modelIdOf(request.llmConfig), run);
  return reductionsAfter(refused.length, run).some(
    (reduction) => reduction === 'summarize' || isShorter(run, request, target),
  );
}

/**
 * Makes the request of the open step shorter, when the provider has just refused it as too long: in the first way of the loop
 * that was not tried and that helps. Each way is tried once in a step.
 * When a summary failed that may succeed later, it is repeated later, as a failed call is.
 * @throws DriverError `contextTooLong` when no way helps.
 */
export async function shortenRequest(run: ReducingRun, next: InferenceRequest): Promise<void> {
  const { currentStep: step } = run.state;
  const last = step?.inferenceFailures.findLast((failure) => !isOfReduction(failure));
  if (step === undefined || last?.error.code !== TOO_LONG) return;
  // A hook may have changed the model of the refused request.
  const request = { ...next, llmConfig: run.state.requestOf(step).llmConfig };
  const target = targetOf(run, last.error.message, request);
  const failures: unknown[] = [];
  const facts = { maxTokens: target, reportFailure: (error: unknown) => void failures.push(error) };
  // After `retry()` no refusal counts.
  const tried = Math.max(0, refusalsBy(last.modelId, run).length - 1);
  for (const reduction of reductionsAfter(tried, run)) {
    const isDone =
      reduction === 'summarize' ? await summarized(run, facts) : shortenedResults(run, request, target);
    if (isDone) rememberLimit(run, target, last.modelId);
    if (isDone || !run.mayBegin() || nextAction(run.state).type !== 'infer') return;
  }
  if (!failures.some(mayPass)) {
    const cause = failures.length > 0 ? { cause: failures[0] } : {};
    const message = `${last.error.message} ${ADVICE}`;
    throw new DriverError('contextTooLong', message, { data: last.error.data, ...cause });
  }
  repeatReduction(run, failures.find(mayPass), last.modelId);
}

/** True for a failure that time or a person can remedy. */
function mayPass(error: unknown): boolean {
  const { isRetryable, needsPerson } = driverFailureOf(error);
  return isRetryable || needsPerson;
}

/**
 * Records the failure of the model that writes summaries like a failed call of the step: the step repeats it later, and then
 * shortens the request again.
 * @throws DriverError with the failure when the loop does not repeat it.
 */
function repeatReduction(run: ReducingRun, error: unknown, modelId: string | undefined): void {
  const { currentStep: step, execution } = run.state;
  const thrown = toldError(error, RETRY, { isOfReduction: true });
  const at = run.now();
  const call = step && { step, thrown, usage: Usage.none, at, modelId }; // the hook has counted the usage
  const failure = call && failureToRepeat(call, run.loop.retry);
  if (failure === undefined) throw thrown;
  run.advance({ type: 'inferenceFailed', failure, fallback: execution?.fallback, at });
}

const RETRY =
  'This call would have shortened a request that the provider refused as too long. retry() continues the session.';

function isOfReduction({ error: { data } }: InferenceFailure): boolean {
  return isJsonObject(data) && data['isOfReduction'] === true;
}

/** Keeps the limit for later steps and executions, which need no refusal to respect it. */
function rememberLimit(run: ReducingRun, target: number, model: string | undefined): void {
  const limit = { maxTokens: Math.max(1, Math.floor(target)), model };
  run.change(run.state.withContextLimit(limit, run.now()));
}

const TOO_LONG: ErrorCode = 'DRIVER_CONTEXT_TOO_LONG';

/** The ways of the agent that are left after a number of refusals. */
function reductionsAfter(count: number, { loop }: ReducingRun): readonly Reduction[] {
  const hasHooks = loop.hooks.has('onContextTooLong');
  return loop.whenTooLong.filter((reduction) => reduction !== 'summarize' || hasHooks).slice(count);
}

/** The calls of a model in the open step, since `retry()`, that the provider refused as too long. */
function refusalsBy(modelId: string | undefined, { state }: ReducingRun): readonly InferenceFailure[] {
  return failuresInSeries(state.currentStep?.inferenceFailures ?? []).filter(
    (failure) => failure.error.code === TOO_LONG && failure.modelId === modelId,
  );
}

/** Lets hooks shorten what the compiler selects. Returns true when the messages have become fewer tokens. */
async function summarized(run: ReducingRun, facts: TooLongFacts): Promise<boolean> {
  await run.hooks.callTooLong(facts);
  const { currentStep: step } = run.state;
  if (step === undefined) return false;
  const input = run.loop.compile(run.state);
  if (tokensOf(input) >= tokensOf(step.input)) return false;
  run.advance({ type: 'inputChanged', input, at: run.now() });
  return true;
}

/** Records that the results of the request are shortened, if this makes it shorter. */
function shortenedResults(run: ReducingRun, request: InferenceRequest, target: number): boolean {
  const { currentStep: step } = run.state;
  if (step === undefined || !isShorter(run, request, target)) return false;
  const shorter = { ...run.state.requestOf(step), shortenedTo: roomFor(request, target) };
  run.advance({ type: 'requestChanged', request: shorter, at: run.now() });
  return true;
}

function isShorter(run: ReducingRun, request: InferenceRequest, target: number): boolean {
  const room = roomFor(request, target);
  return room > 0 && tokensOf(withShortResults(request.messages, room)) < tokensOf(sentOf(run, request));
}

/** The tokens that the messages may have. */
function roomFor(request: InferenceRequest, target: number): number {
  return Math.max(0, Math.floor(target - tokensOfStart(request)));
}

/** The messages of the request, with the results that are shortened already. */
function sentOf(run: ReducingRun, request: InferenceRequest): InferenceRequest['messages'] {
  const { messages } = request;
  const room = shortenedTo(run, request);
  return room === undefined ? messages : withShortResults(messages, room);
}

/** The part of a limit that a shorter request may use: the answer needs room, and tokens are estimated. */
const SHARE = 0.75;

/** The estimated tokens that the next request may have, from the limit that the provider named, if it named one. */
function targetOf(run: ReducingRun, message: string, request: InferenceRequest): number {
  const estimate = tokensOfRequest({ ...request, messages: sentOf(run, request) });
  return SHARE * Math.min(limitIn(message) ?? Infinity, estimate);
}

const ADVICE =
  'The session can continue after clearHistory(), after editMessage() of an earlier message, as a fork() with atMessage, or with a compiler or summaries that show less.';

/** Returns the error of a refusal with what a person can do; any other error as it is. */
export function withAdvice(error: unknown): unknown {
  return driverFailureOf(error).kind === 'contextTooLong' ? toldError(error, ADVICE) : error;
}
