import type { RedisCalls } from './redis-calls.ts';

/**
 * A warning if the server may evict sessions when its memory is full; `undefined` if it may not, or does not report it.
 */
export async function evictionWarning(calls: RedisCalls): Promise<string | undefined> {
  const info = await calls.info('memory').catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === undefined || policy === 'noeviction') return undefined;
  return `Redis has maxmemory-policy ${policy}: when its memory is full it throws sessions away. Set it to noeviction.`;
}
