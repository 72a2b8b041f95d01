import { setTimeout as pause } from 'node:timers/promises';

/** A bound for what never comes: on a busy machine half a minute can take five. */
const WAIT_MS = 300_000;
const POLL_MS = 20;

/** Waits until a condition is true. @throws Error with `what`, when the condition does not become true. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`It did not come about in time that ${what}.`);
    await pause(POLL_MS);
  }
}
