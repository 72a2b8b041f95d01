import { setTimeout as wait } from 'node:timers/promises';
import { SessionBusyError } from '@holdfast/core';

/**
 * Does what needs a session to itself. When somebody has it, waits once for the end of the claim: that of a process that
 * died is not renewed. @throws SessionBusyError when it was renewed; what the work throws.
 */
export async function whenFree<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SessionBusyError)) throw error;
    await wait(Math.max(0, error.until - Date.now()) + 1, undefined, { signal });
    return work();
  }
}
