import { StateFormatError } from '@holdfast/core';
import type { RedisCalls } from './redis-calls.ts';
import { RedisKeys } from './redis-keys.ts';
import { PREPARE } from './scripts.ts';

/** The version of the layout: of the hashes, the indexes and their keys. */
const SCHEMA = 3;

/** What is found or put under a prefix. */
export interface KeysRequest {
  readonly prefix: string;
  /** `undefined`: as many as there are. */
  readonly buckets: number | undefined;
  /** How many there shall be when there is nothing. */
  readonly defaultBuckets: number;
}

/**
 * How sessions are kept under a prefix; says so there when nothing is.
 * @throws StateFormatError when they are kept in another way, `STATE_VERSION` when a newer release does: nothing is touched.
 */
export async function prepareKeys(
  calls: RedisCalls,
  { prefix, buckets, defaultBuckets }: KeysRequest,
): Promise<RedisKeys> {
  const meta = RedisKeys.meta(prefix);
  const wanted = [SCHEMA, buckets ?? defaultBuckets];
  const found = await calls.run<readonly (Buffer | null)[]>(PREPARE, [meta], wanted);
  const [schema, count] = found.map((value) => Number(String(value)));
  if (schema !== SCHEMA) {
    const code = schema !== undefined && schema > SCHEMA ? 'STATE_VERSION' : 'STATE_FORMAT';
    const what = `the key ${JSON.stringify(meta)}`;
    throw new StateFormatError(what, `schema ${SCHEMA}`, `schema ${String(found[0])}`, { code });
  }
  if (count === undefined || !(count >= 1) || (buckets !== undefined && count !== buckets)) {
    const expected = buckets === undefined ? 'a number of buckets' : `${buckets} buckets`;
    throw new StateFormatError(`the key ${JSON.stringify(meta)}`, expected, String(found[1]));
  }
  return new RedisKeys(prefix, count);
}

/** Why the server may throw sessions away when its memory is full; `undefined` when it may not, or does not tell. */
export async function evictionWarning(calls: RedisCalls): Promise<string | undefined> {
  const info = await calls.info('memory').catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === undefined || policy === 'noeviction') return undefined;
  return `Redis has maxmemory-policy ${policy}: when its memory is full it throws sessions away. Set it to noeviction.`;
}
