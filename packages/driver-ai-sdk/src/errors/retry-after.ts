import type { Instant } from '@holdfast/core';
import { apiCallError, wordsOf } from './error-facts.ts';

/**
 * Returns the delay in seconds that the provider requests, if it requests one: by `retry-after-ms` or `retry-after`, by
 * the delay that Google states in the body, or by the moment in `x-ratelimit-reset` of OpenRouter. The headers
 * `x-ratelimit-reset-…` of OpenAI and `anthropic-ratelimit-…-reset` name the time until a limit is whole again, which is
 * longer than the wait for the next call, so they do not count.
 */
export function retryAfterSeconds(error: unknown, now: Instant): number | undefined {
  const headers = apiCallError(error)?.responseHeaders;
  const milliseconds = Number.parseFloat(headers?.['retry-after-ms'] ?? '');
  if (milliseconds >= 0) return milliseconds / 1000;
  const after = headers?.['retry-after'] ?? '';
  const seconds = /^\s*[\d.]+\s*$/.test(after) ? Number(after) : (Date.parse(after) - now) / 1000;
  if (seconds >= 0) return seconds;
  return statedDelay(wordsOf(error)) ?? untilReset(headers?.['x-ratelimit-reset'], now);
}

/** The delay in the body of Google's errors: `"retryDelay": "22s"`. */
function statedDelay(words: string): number | undefined {
  const stated = /"retryDelay"\s*:\s*"([\d.]+)s"|please retry in ([\d.]+)s/i.exec(words);
  const seconds = Number.parseFloat(stated?.[1] ?? stated?.[2] ?? '');
  return seconds >= 0 ? seconds : undefined;
}

/** The smallest number that is a moment in milliseconds. Smaller numbers have other meanings. */
const FIRST_MOMENT_MS = 1e12;

function untilReset(reset: string | undefined, now: Instant): number | undefined {
  const moment = Number(reset);
  return moment >= FIRST_MOMENT_MS && moment >= now ? (moment - now) / 1000 : undefined;
}
