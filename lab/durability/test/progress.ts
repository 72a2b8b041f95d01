import { setTimeout as pause } from 'node:timers/promises';
import type { World } from './world.ts';

const POLL_MS = 20;
/** After so many looks without a new entry, the work stands still. */
const MOST_LOOKS = 50;

/**
 * Waits until the processes of a world have done a number of things more. Also returns when the work stands still, because
 * it has ended, or waits for people or for an instant.
 */
export async function untilProgress({ journal }: World, entries: number): Promise<void> {
  let known = journal.read().length;
  const end = known + entries;
  for (let looks = 0; known < end && looks < MOST_LOOKS; looks++) {
    await pause(POLL_MS);
    const { length } = journal.read();
    if (length > known) looks = 0;
    known = length;
  }
}
