import { invalidArgument } from '@holdfast/core';

/** An argument of a command. */
export type RedisArgument = string | number | Buffer;

/** Commands that are sent together. */
export interface RedisBatch {
  /** Sends the commands. Resolves with an error or a reply for each command. */
  exec(): Promise<readonly (readonly [error: Error | null, reply: unknown])[] | null>;
}

/** The members of a client that the store uses: those of `Redis` and `Cluster` of ioredis 5 and 6, and of iovalkey. */
export interface RedisClient {
  /** The status of the connection; `ready` while it is open, `end` after the client was closed. */
  readonly status: string;
  /** The options with which the client was created. */
  readonly options: object;
  /** Present on clients of a Cluster only. */
  readonly nodes?: ((role?: never) => readonly unknown[]) | undefined;
  /** Adds a method that runs a Lua script. */
  defineCommand(name: string, definition: { readonly lua: string }): void;
  /** Sends a command. Resolves with the reply, in which texts are buffers. */
  callBuffer(command: string, args: RedisArgument[]): Promise<unknown>;
  /**
   * Creates a batch of commands.
   * @param commands for each command, the name of a method and its arguments
   */
  pipeline(commands: unknown[][]): RedisBatch;
  /** Creates a batch that the server executes as a transaction. Its parameter is that of `pipeline`. */
  multi(commands: unknown[][]): RedisBatch;
  /** Adds a listener that is called when a connection closes. */
  on(event: 'close', listener: () => void): unknown;
  /** Adds a listener for errors of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** A client whose options a channel uses: a `Redis` or `Cluster` of ioredis 6, or a `Redis` of ioredis 5 or iovalkey. */
export interface RedisChannelClient extends RedisClient {
  /** Creates a client with the same options and others. */
  readonly duplicate: (first?: never, second?: never) => object;
}

export function isCluster(client: Pick<RedisClient, 'nodes'>): boolean {
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
