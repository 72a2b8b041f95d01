import { setTimeout as pause } from 'node:timers/promises';

/** Waits until a condition holds. The time limit of the test bounds the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20);
}
