import { StateFormatError } from '@holdfast/core';
import { PREPARE_PREFIX } from '../scripts/redis-script.ts';
import type { RedisCalls } from '../server/redis-calls.ts';
import { RedisKeys } from './redis-keys.ts';

/** The version of the layout: of the hashes, the indexes and their keys. */
const SCHEMA = 5;

const NEWER_LAYOUT = 'a newer release wrote this, open it with that release';
const OLDER_LAYOUT = `this release reads layout ${SCHEMA} only: open it with the release that wrote it, or choose another prefix`;

export interface PrefixOptions {
  readonly prefix: string;
  /** The number of buckets that the caller requires; `undefined` accepts any number. */
  readonly buckets: number | undefined;
  /** The number of buckets of a new prefix, if the caller requires none. */
  readonly defaultBuckets: number;
}

/**
 * Reads how sessions are stored under a prefix, or writes it if the prefix is new. Changes nothing else.
 * @throws StateFormatError for another layout or number of buckets, `STATE_VERSION` for the layout of a newer release.
 */
export async function preparePrefix(
  calls: RedisCalls,
  { prefix, buckets, defaultBuckets }: PrefixOptions,
): Promise<RedisKeys> {
  const meta = RedisKeys.meta(prefix);
  const args = [SCHEMA, buckets ?? defaultBuckets];
  const stored = await calls.run<readonly (Buffer | null)[]>(PREPARE_PREFIX, [meta], args);
  const [schema, count] = stored.map((value) => Number(String(value)));
  if (schema !== SCHEMA) {
    const isNewer = schema !== undefined && schema > SCHEMA;
    const code = isNewer ? 'STATE_VERSION' : 'STATE_FORMAT';
    const where = `the key ${JSON.stringify(meta)}`;
    const expected = `schema ${SCHEMA}; ${isNewer ? NEWER_LAYOUT : OLDER_LAYOUT}`;
    throw new StateFormatError(where, expected, `schema ${String(stored[0])}`, { code });
  }
  if (count === undefined || !(count >= 1) || (buckets !== undefined && count !== buckets)) {
    const expected = buckets === undefined ? 'a number of buckets' : `${buckets} buckets`;
    throw new StateFormatError(`the key ${JSON.stringify(meta)}`, expected, String(stored[1]));
  }
  return new RedisKeys(prefix, count);
}
