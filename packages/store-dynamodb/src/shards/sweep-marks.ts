import type { Clock, Instant } from '@holdfast/core';
import type { Item } from '../table/item.ts';
import { instantKey } from '../table/keys.ts';
import { SHARD } from '../table/table-definition.ts';
import type { Shards } from './shards.ts';

/** The time after which a writer that has staged items is considered dead. */
const GRACE_MS = 24 * 3_600_000;

/** Returns the attributes that make `prune` examine an item a day after `from`, which is now by default. */
export type SweepMarks = (pk: string, from?: Instant) => Promise<Item>;

export function sweepMarks(shards: Shards, clock: Clock): SweepMarks {
  return async (pk, from = clock.now()) => ({
    [SHARD]: { S: await shards.shardOf(pk) },
    sweep: { S: instantKey(from + GRACE_MS) },
  });
}
