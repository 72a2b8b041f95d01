import { HoldfastError } from '@holdfast/core';
import type { EngineClient } from './connection.ts';

/** The version and the settings of a server. */
export interface QueueReport {
  readonly redisVersion: string;
  /** Settings with which the queue can lose wake-ups. A sweep finds the sessions again. */
  readonly warnings: readonly string[];
}

const OLDEST = [6, 2] as const;

/** @throws HoldfastError `QUEUE_UNSUITABLE` for a server that is too old. */
export async function queueReport(client: Pick<EngineClient, 'info'>): Promise<QueueReport> {
  const info = await client.info();
  const redisVersion = valueOf(info, 'redis_version') ?? 'unknown';
  const [major = 0, minor = 0] = redisVersion.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new HoldfastError(
      'QUEUE_UNSUITABLE',
      `The engine needs Redis ${OLDEST.join('.')} or newer, or Valkey. The server has version ${redisVersion}.`,
    );
  }
  return { redisVersion, warnings: warningsOf(info) };
}

function warningsOf(info: string): readonly string[] {
  const warnings: string[] = [];
  const policy = valueOf(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    warnings.push(
      `Redis may evict wake-ups when its memory is full: its maxmemory-policy is ${policy}. Set it to noeviction.`,
    );
  if (valueOf(info, 'aof_enabled') === '0')
    warnings.push(
      'Redis loses wake-ups when it restarts: append-only persistence is off. Set appendonly to yes.',
    );
  return warnings;
}

function valueOf(info: string, field: string): string | undefined {
  return new RegExp(`^${field}:(\\S+)`, 'm').exec(info)?.[1];
}
