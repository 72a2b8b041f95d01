import type { Instant } from '@holdfast/core';
import { unlessAborted } from '../response/abort.ts';
import { isRetryable } from '../errors/error-kind.ts';
import { retryAfterSeconds } from '../errors/retry-after.ts';

/** The result of an attempt: a response, or an error. `isFinal`: another attempt could do harm. */
export type AttemptResult<T> =
  | { readonly answer: T }
  | { readonly error: unknown; readonly isFinal: boolean };

/** Waits; may end early when the signal aborts. */
export type Wait = (seconds: number, signal: AbortSignal) => Promise<void>;

export interface RetryPolicy {
  readonly maxRetries: number;
  readonly wait: Wait;
  readonly signal: AbortSignal;
  readonly now: () => Instant;
}

/** The last attempt, and how many there were. */
export type AttemptsResult<T> = AttemptResult<T> & { readonly attempts: number };

/** Attempts until there is an answer or no reason to try again. @throws the signal's reason when it aborts a wait. */
export async function withRetries<T>(
  attempt: () => Promise<AttemptResult<T>>,
  { maxRetries, wait, signal, now }: RetryPolicy,
): Promise<AttemptsResult<T>> {
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt();
    if ('answer' in outcome || outcome.isFinal || attempts > maxRetries) return { ...outcome, attempts };
    const delay = isRetryable(outcome.error) ? retryDelay(outcome.error, attempts, now()) : Infinity;
    if (delay > MAX_DELAY_SECONDS) return { ...outcome, attempts };
    await unlessAborted(wait(delay, signal), signal);
  }
}

/** When a provider requests a longer delay, the driver throws, and the caller decides. */
const MAX_DELAY_SECONDS = 60;
const FIRST_DELAY_SECONDS = 2;

/** Returns the seconds to wait after an attempt: the delay that the provider requests, or else 2, 4, 8, … */
export function retryDelay(error: unknown, attempts: number, now: Instant): number {
  return (
    retryAfterSeconds(error, now) ?? Math.min(FIRST_DELAY_SECONDS * 2 ** (attempts - 1), MAX_DELAY_SECONDS)
  );
}

/** Waits on the timer of the machine. */
export const waitOnTimer: Wait = (seconds, signal) =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal.addEventListener('abort', end, { once: true });
  });
