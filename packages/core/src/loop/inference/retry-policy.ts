import { MAX_SECONDS, mustBe, optionsCheck, type OptionChecks } from '../../arguments.ts';
import type { Instant } from '../../clock.ts';
import { backoff, jitterOf } from '../../backoff.ts';
import { compact } from '../../json.ts';
import type { InferenceFailure } from '../../state/inference/inference-failure.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import { Usage } from '../../state/inference/usage.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { driverFailureOf } from './driver-error.ts';

/**
 * How a loop repeats a failed call of the model. The pauses double from `initialDelaySeconds` to `maxDelaySeconds`,
 * with jitter, and are at least as long as the provider's `retryAfterSeconds`.
 */
export interface InferenceRetryOptions {
  /** The first pause; default 2. */
  readonly initialDelaySeconds?: number;
  /** The longest pause that the loop chooses itself; default 300. */
  readonly maxDelaySeconds?: number;
  /**
   * Seconds from the first failed call to the last repetition, by the same or another model; default 3,600. 0: no model is
   * called twice.
   */
  readonly maxElapsedSeconds?: number;
  /** The longest pause that a run waits for; a longer one suspends the execution. Default 5. */
  readonly maxPauseSeconds?: number;
  /**
   * Applies when the retries are exhausted, and after an error that only a person can resolve (`authentication`,
   * `quotaExceeded`, `modelNotFound`). `suspend`: the execution waits for `retry()`. `fail`: it ends `failed`. Default:
   * `suspend` under a `SessionRuntime`, otherwise `fail`.
   */
  readonly onExhausted?: 'suspend' | 'fail';
  /**
   * Seconds that an execution waits for `retry()` before it ends `failed`; default 1,209,600 (14 days). `Infinity`: no
   * limit.
   */
  readonly maxSuspendedSeconds?: number;
}

const CHECKS: OptionChecks<InferenceRetryOptions> = {
  initialDelaySeconds: mustBe.seconds,
  maxDelaySeconds: mustBe.seconds,
  maxElapsedSeconds: mustBe.number(0, MAX_SECONDS),
  maxPauseSeconds: mustBe.number(0, Number.MAX_VALUE),
  onExhausted: mustBe.oneOf(['suspend', 'fail']),
  maxSuspendedSeconds: {
    ...mustBe.number(0),
    expected: 'a number of seconds from 0, or Infinity',
    accepts: (value) => value === Infinity || mustBe.number(0, MAX_SECONDS).accepts(value),
  },
};

const checkRetryOptions = optionsCheck<InferenceRetryOptions>('inferenceRetry', CHECKS, {
  maxRetries: 'set it in the driver, as in aiSdkDriver({ maxRetries: 2 }); the loop has "maxElapsedSeconds"',
});

const DEFAULTS = {
  initialDelaySeconds: 2,
  maxDelaySeconds: 300,
  maxElapsedSeconds: 3_600,
  maxPauseSeconds: 5,
  maxSuspendedSeconds: 14 * 86_400,
} as const satisfies InferenceRetryOptions;

/** `InferenceRetryOptions` with every default. */
export type RetryPolicy = InferenceRetryOptions & { readonly [Name in keyof typeof DEFAULTS]: number };

/** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
export function retryPolicyOf(options: InferenceRetryOptions = {}): RetryPolicy {
  return { ...DEFAULTS, ...compact(checkRetryOptions(options)) };
}

/** A call of the model that just failed. */
export interface FailedCall {
  readonly step: AgentStep;
  readonly thrown: unknown;
  readonly usage: Usage;
  readonly at: Instant;
  /** The model that failed, when it is known. */
  readonly modelId: string | undefined;
}

/**
 * The failure to store in the step, with its retry or its wait for `retry()`; `undefined` when it ends the execution.
 */
export function failureToRepeat(call: FailedCall, policy: RetryPolicy): InferenceFailure | undefined {
  const { thrown, at } = call;
  const { isRetryable, needsPerson } = driverFailureOf(thrown);
  if (isRepeatedAtOnce(call, policy)) return failureOf(call, { retryAt: at });
  const retryAt = isRetryable ? nextMoment(call, policy) : undefined;
  if (retryAt !== undefined) return failureOf(call, { retryAt });
  const isSuspended = policy.onExhausted === 'suspend' && (isRetryable || needsPerson);
  if (!isSuspended) return undefined;
  const failAt = Math.ceil(at + policy.maxSuspendedSeconds * 1_000);
  return failureOf(call, failAt === Infinity ? {} : { failAt });
}

/** True for an empty or broken answer, unless the call before ended like this too. Then a fallback is called, or none. */
export function isRepeatedAtOnce(
  { step, thrown }: Pick<FailedCall, 'step' | 'thrown'>,
  { maxElapsedSeconds }: RetryPolicy,
): boolean {
  const { needsAnotherCall, code } = driverFailureOf(thrown);
  if (!needsAnotherCall || maxElapsedSeconds === 0) return false;
  return failuresInSeries(step.inferenceFailures).at(-1)?.error.code !== code;
}

export function failureOf(
  { thrown, usage, at, modelId }: FailedCall,
  moments: Pick<InferenceFailure, 'retryAt' | 'failAt'>,
): InferenceFailure {
  const used = usage === Usage.none ? {} : { usage };
  const called = modelId === undefined ? {} : { modelId };
  return Object.freeze({ error: toErrorRecord(thrown), at, ...called, ...used, ...moments });
}

/** When to repeat the call; `undefined` when the retries are exhausted. */
function nextMoment({ step, thrown, at }: FailedCall, policy: RetryPolicy): Instant | undefined {
  const series = failuresInSeries(step.inferenceFailures);
  const pauses = series.filter(({ at: failedAt, retryAt = failedAt }) => retryAt > failedAt).length;
  const { retryAfterSeconds = 0 } = driverFailureOf(thrown);
  const limits = { first: policy.initialDelaySeconds * 1_000, longest: policy.maxDelaySeconds * 1_000 };
  const delay = backoff(limits, pauses + 1) * jitterOf(step.id, pauses);
  const retryAt = Math.ceil(at + Math.max(delay, retryAfterSeconds * 1_000));
  return policy.maxElapsedSeconds > 0 && mayRepeatAt(retryAt, { step, at }, policy) ? retryAt : undefined;
}

/**
 * True when a failed call may be repeated at an instant, by the same or another model. With `maxElapsedSeconds: 0` no
 * model is called twice, so the time needs no limit.
 */
export function mayRepeatAt(
  instant: Instant,
  { step, at }: Pick<FailedCall, 'step' | 'at'>,
  { maxElapsedSeconds }: RetryPolicy,
): boolean {
  const first = failuresInSeries(step.inferenceFailures)[0]?.at ?? at;
  return maxElapsedSeconds === 0 || instant - first <= maxElapsedSeconds * 1_000;
}

/** The failures since the step was begun or `retry()` was called. */
export function failuresInSeries(failures: readonly InferenceFailure[]): readonly InferenceFailure[] {
  return failures.slice(failures.findLastIndex(({ retryAt }) => retryAt === undefined) + 1);
}
