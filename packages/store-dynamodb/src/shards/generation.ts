import { sha256 } from '../table/keys.ts';

/** A partition of the indexes into shards. Generations are numbered from 1. */
export interface Generation {
  readonly number: number;
  readonly shards: number;
}

/** The shard of a generation for the items of a partition. DynamoDB accepts 1,000 writes per second in one shard. */
export function shardOf(partition: string, generation: Generation): string {
  return shardName(generation, sha256(partition).readUInt32BE() % generation.shards);
}

/** All shards of a generation. */
export function shardsOf(generation: Generation): string[] {
  return Array.from({ length: generation.shards }, (_, shard) => shardName(generation, shard));
}

function shardName({ number }: Generation, shard: number): string {
  return `${number}.${shard}`;
}
