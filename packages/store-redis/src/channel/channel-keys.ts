import { hash } from 'node:crypto';

/** The names that a channel uses for one session. They have the same hash tag, so they are in one slot of a Cluster. */
export interface ChannelKeys {
  /** The stream of the tail. */
  readonly tail: string;
  /** The shard channel with the ids of new entries, and their texts if they are short. */
  readonly wake: string;
  /** The shard channel of notifications. */
  readonly notify: string;
  /** The last notification. */
  readonly notified: string;
}

const TAG_DIGITS = 3;

/**
 * Returns the names for a session. Streams belong to a database of the server, and shard channels to the whole server, so
 * the names of shard channels have the number of the database.
 */
export function channelKeys(prefix: string, database: number, sessionId: string): ChannelKeys {
  const tag = hash('sha1', sessionId).slice(0, TAG_DIGITS);
  const start = `${prefix}:{${tag}}`;
  return {
    tail: `${start}:t:${sessionId}`,
    wake: `${start}:w${database}:${sessionId}`,
    notify: `${start}:n${database}:${sessionId}`,
    notified: `${start}:n:${sessionId}`,
  };
}
