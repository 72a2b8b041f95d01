import { invalidArgument } from '@holdfast/core';

/** An argument of a command. */
export type RedisArgument = string | number | Buffer;

/** Commands that are sent together. */
export interface RedisBatch {
  /** An error or a reply for each command. */
  exec(): Promise<readonly (readonly [error: Error | null, reply: unknown])[] | null>;
}

/** The members of a client that the store uses: those of `Redis` and `Cluster` of ioredis 5 and 6, and of iovalkey. */
export interface RedisClient {
  readonly status: string;
  readonly options: object;
  /** Present on clients of a Cluster only. */
  readonly nodes?: ((role?: never) => readonly unknown[]) | undefined;
  defineCommand(name: string, definition: { readonly lua: string }): void;
  callBuffer(command: string, args: RedisArgument[]): Promise<unknown>;
  /** @param commands each the name of a method and its arguments */
  pipeline(commands: unknown[][]): RedisBatch;
  /** Like `pipeline`, as a transaction. */
  multi(commands: unknown[][]): RedisBatch;
  on(event: 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export function isCluster(client: RedisClient): boolean {
  return typeof client.nodes === 'function';
}

const METHODS = ['defineCommand', 'callBuffer', 'pipeline', 'multi'] as const;

/**
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not a client, RangeError for a client with a `keyPrefix`.
 */
export function checkClient(client: RedisClient): void {
  if (!METHODS.every((name) => typeof client?.[name] === 'function')) {
    throw invalidArgument('client must be a Redis or Cluster of ioredis or iovalkey.', TypeError);
  }
  const { keyPrefix, redisOptions } = client.options as {
    readonly keyPrefix?: string;
    readonly redisOptions?: { readonly keyPrefix?: string };
  };
  if (keyPrefix || redisOptions?.keyPrefix) {
    const advice = 'Create the client without keyPrefix, and set the option "prefix" of the store.';
    throw invalidArgument(`The client has a keyPrefix, which the scripts of the store ignore. ${advice}`);
  }
}
