import { mustBe, optionsCheck } from '@holdfast/core/engine';

/** Bounds for the requests of one owner in this process, against pages that misbehave. */
export interface ChatLimits {
  /** The largest body of a request, in bytes. Default: 4,000,000. */
  readonly bodyBytes?: number;
  /** The number of JSON values in a message of the user, its metadata included, or in the answers to calls. Default: 10,000. */
  readonly values?: number;
  /** The number of requests that change something, in a minute. Default: 120. */
  readonly requestsPerMinute?: number;
  /** The number of requests that only read, in a minute: loads, and streams that open. Default: 1,200. */
  readonly readsPerMinute?: number;
  /** The number of open streams. Default: 50. */
  readonly streams?: number;
}

/** The limits of a handler. */
export type Limits = Required<ChatLimits>;

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 4_000_000,
  values: 10_000,
  requestsPerMinute: 120,
  readsPerMinute: 1_200,
  streams: 50,
};

/** @throws RangeError or TypeError `ARGUMENT_INVALID` */
export const checkLimits = optionsCheck<ChatLimits>('limits of chatHandler', {
  bodyBytes: mustBe.wholeNumber(1),
  values: mustBe.wholeNumber(1),
  requestsPerMinute: mustBe.wholeNumber(1),
  readsPerMinute: mustBe.wholeNumber(1),
  streams: mustBe.wholeNumber(1),
});
