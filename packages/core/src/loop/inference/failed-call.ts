import {
  InferenceResponse,
  reportedUsage,
  type InferenceResponseInit,
} from '../../state/inference/inference-response.ts';
import { Usage } from '../../state/inference/usage.ts';
import type { DriverError } from './driver-error.ts';

/** The partial response that an error of a driver carries, if there is one. */
export function partialResponseOf(error: unknown): InferenceResponse | undefined {
  if (typeof error !== 'object' || error === null || !('partialResponse' in error)) return undefined;
  try {
    return InferenceResponse.of(error.partialResponse as InferenceResponseInit);
  } catch {
    return undefined;
  }
}

/** The usage that the provider bills for a failed call; `Usage.none` when the error reports none. */
export function billedUsage(error: unknown, partial: InferenceResponse | undefined): Usage {
  const { usage } = (typeof error === 'object' && error ? error : {}) as Pick<DriverError, 'usage'>;
  const isReported = typeof usage === 'object' && usage !== null;
  return isReported ? reportedUsage(usage) : (partial?.usage ?? Usage.none);
}
