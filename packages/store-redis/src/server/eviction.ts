import type { RedisCalls } from './redis-calls.ts';

/**
 * Returns a warning if the server may evict data when its memory is full; `undefined` if the server does not evict, or
 * does not report its policy.
 */
export async function evictionWarning(calls: RedisCalls, data = 'sessions'): Promise<string | undefined> {
  const info = await calls.info('memory').catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === undefined || policy === 'noeviction') return undefined;
  return `Redis may evict ${data} when its memory is full: its maxmemory-policy is ${policy}. Set maxmemory-policy to noeviction.`;
}
