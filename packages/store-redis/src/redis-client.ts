import { invalidArgument } from '@holdfast/core';

/** What a command may be given. */
export type RedisArgument = string | number | Buffer;

/** Commands that are sent together. */
export interface RedisBatch {
  /** For each command an error or a reply. */
  exec(): Promise<readonly (readonly [error: Error | null, reply: unknown])[] | null>;
}

/**
 * What the store uses of a client. `Redis` and `Cluster` of ioredis 5 and 6 have it, and those of iovalkey.
 */
export interface RedisClient {
  readonly status: string;
  readonly options: object;
  /** Only a Cluster has it. */
  readonly nodes?: ((role?: never) => readonly unknown[]) | undefined;
  defineCommand(name: string, definition: { readonly lua: string }): void;
  callBuffer(command: string, args: RedisArgument[]): Promise<unknown>;
  /** @param commands each the name of a method, and its arguments */
  pipeline(commands: unknown[][]): RedisBatch;
  /** The same, as a transaction. */
  multi(commands: unknown[][]): RedisBatch;
  on(event: 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Is it a client of a Redis Cluster? */
export function isCluster(client: RedisClient): boolean {
  return typeof client.nodes === 'function';
}

const METHODS = ['defineCommand', 'callBuffer', 'pipeline', 'multi'] as const;

/** @throws TypeError `ARGUMENT_INVALID` for what is no client, or one that changes keys. */
export function checkedClient(client: RedisClient): RedisClient {
  if (!METHODS.every((name) => typeof client?.[name] === 'function')) {
    throw invalidArgument('client must be a Redis or Cluster of ioredis or iovalkey.', TypeError);
  }
  const { keyPrefix, redisOptions } = client.options as {
    readonly keyPrefix?: string;
    readonly redisOptions?: { readonly keyPrefix?: string };
  };
  if (keyPrefix || redisOptions?.keyPrefix) {
    const advice = 'Use a client without it, and the option "prefix" of the store.';
    throw invalidArgument(`The client has a keyPrefix, which the store's scripts would not see. ${advice}`);
  }
  return client;
}
