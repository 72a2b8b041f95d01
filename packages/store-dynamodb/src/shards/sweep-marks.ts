import type { Clock, Instant } from '@holdfast/core';
import type { Item } from '../table/item.ts';
import { instantKey } from '../table/keys.ts';
import { SHARD } from '../table/table-definition.ts';
import type { Shards } from './shards.ts';

/** After so long, a writer that has staged something is taken for dead. */
const GRACE_MILLISECONDS = 24 * 3_600_000;

/** The attributes that make `prune` look at an item of a partition a day after an instant, by default after now. */
export type SweepMarks = (pk: string, from?: Instant) => Promise<Item>;

export function sweepMarks(shards: Shards, clock: Clock): SweepMarks {
  return async (pk, from = clock.now()) => ({
    [SHARD]: { S: await shards.shardOf(pk) },
    sweep: { S: instantKey(from + GRACE_MILLISECONDS) },
  });
}
