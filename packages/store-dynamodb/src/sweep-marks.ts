import type { Clock, Instant } from '@holdfast/core';
import type { Item } from './item-size.ts';
import { instantKey } from './keys.ts';
import type { Shards } from './shards.ts';
import { SHARD } from './table-definition.ts';

/** So long nobody doubts that a writer is still at work. */
const GRACE_MILLISECONDS = 24 * 3_600_000;

/** What an item of a partition says so that `prune` looks at it in a day, from now on if no moment is given. */
export type SweepMarks = (pk: string, now?: Instant) => Promise<Item>;

export function sweepMarks(shards: Shards, clock: Clock): SweepMarks {
  return async (pk, now = clock.now()) => ({
    [SHARD]: { S: await shards.of(pk) },
    sweep: { S: instantKey(now + GRACE_MILLISECONDS) },
  });
}
