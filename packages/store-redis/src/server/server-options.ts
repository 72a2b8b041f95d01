import { invalidArgument } from '@holdfast/core';
import { mustBe, type ArgumentCheck, type OptionChecks } from '@holdfast/core/store';

export const DEFAULT_TIMEOUT_SECONDS = 10;

export const PREFIX: ArgumentCheck = {
  expected: 'a string without braces',
  accepts: (value) =>
    typeof value === 'string' && value !== '' && value.isWellFormed() && !/[{}]/.test(value),
  type: 'string',
};

export const TIMEOUT_SECONDS: ArgumentCheck = {
  expected: 'a number of seconds above 0, at most 1,000,000',
  accepts: (value) => typeof value === 'number' && value > 0 && value <= 1_000_000,
  type: 'number',
};

/** The members of all forms of `RedisConnection`. */
export interface AnyConnection {
  readonly url?: unknown;
  readonly redis?: unknown;
  readonly cluster?: unknown;
  readonly clusterOptions?: unknown;
}

export const CONNECTION_CHECKS: OptionChecks<AnyConnection> = {
  url: mustBe.secret(mustBe.string),
  redis: mustBe.object,
  cluster: mustBe.listOf('nodes, as in cluster: [{ host, port }]'),
  clusterOptions: mustBe.object,
};

/** The advice for options of connections that the class does not have. */
export function connectionAdvice(name: string): Readonly<Record<string, string>> {
  const connection = `use ${name}.open({ url }) or ${name}.open({ redis: { host, port } })`;
  return {
    keyPrefix: 'use "prefix"',
    namespace: 'use "prefix"',
    host: connection,
    port: connection,
    password: connection,
  };
}

/** @throws TypeError `ARGUMENT_INVALID` for options that name no server. */
export function requireConnection({ url, redis, cluster }: AnyConnection, name: string): void {
  if (url !== undefined || redis !== undefined || cluster !== undefined) return;
  throw invalidArgument(`${name}.open needs one of the options url, redis and cluster.`, TypeError);
}

/** The default of `onWarning`. */
export function warn(message: string): void {
  process.emitWarning(message, 'HoldfastWarning');
}
