import { resolve } from 'node:path';
import {
  channelClosed,
  ChannelSubscription,
  ChannelUnavailableError,
  readChannelNews,
  readChannelNotification,
  writeChannelEntry,
  writeChannelNotification,
  type ChannelCapabilities,
  type ChannelEntry,
  type ChannelNews,
  type ChannelNotification,
  type PublishOptions,
  type SessionChannel,
  type SubscribeOptions,
} from '@holdfast/core/channel';
import { StoreUnavailableError } from '@holdfast/core';
import { mustBe, optionsCheck } from '@holdfast/core/store';
import { fileIdentityCheck, openDatabase } from '../open-database.ts';
import { CHANNEL_LAYOUT, ChannelLog, type LogRow } from './channel-log.ts';
import { ChannelPoll } from './channel-poll.ts';

/** The options of a channel. */
export interface SqliteSessionChannelOptions {
  /**
   * The path of the channel's own file, beside the file of the sessions. The channel creates the file and its folder when
   * they are missing.
   */
  readonly path: string;
  /** The seconds between two polls of a process, default 0.1. */
  readonly pollSeconds?: number | undefined;
}

const DEFAULT_POLL_SECONDS = 0.1;
const LONGEST_POLL_SECONDS = 1;
/** The seconds that a write waits for another writer. The wait blocks the event loop. */
const BUSY_TIMEOUT_SECONDS = 0.5;

const CAPABILITIES: ChannelCapabilities = Object.freeze({ tail: 'deltas', delivery: 'polled' });
const GAP: ChannelNews = Object.freeze({ type: 'gap' });

const checkOptions = optionsCheck<SqliteSessionChannelOptions>(
  'SqliteSessionChannel.open',
  {
    path: mustBe.required({
      expected: 'the path of a file; within one process, use MemorySessionChannel',
      accepts: (value) => typeof value === 'string' && value !== '' && value !== ':memory:',
      type: 'string',
    }),
    pollSeconds: mustBe.number(Number.MIN_VALUE, LONGEST_POLL_SECONDS),
  },
  {
    file: 'use "path"',
    filename: 'use "path"',
    database: 'use "path"',
    pollMilliseconds: 'use "pollSeconds"',
  },
);

/**
 * Connects workers, readers and callers of one machine through a file of its own. A process polls for all its sessions
 * with one query.
 *
 * @example
 * const channel = await SqliteSessionChannel.open({ path: 'data/channel.db' });
 */
export class SqliteSessionChannel implements SessionChannel {
  readonly capabilities = CAPABILITIES;
  private readonly path: string;
  private readonly log: ChannelLog;
  private readonly poll: ChannelPoll;
  private readonly isSameFile: () => boolean;
  /** The functions that remove the listeners. */
  private readonly ends = new Set<() => void>();
  private isClosed = false;

  private constructor(path: string, log: ChannelLog, pollSeconds: number) {
    this.path = path;
    this.log = log;
    this.poll = new ChannelPoll(log, pollSeconds * 1_000);
    this.isSameFile = fileIdentityCheck(path);
  }

  /**
   * Opens the file of a channel.
   * @throws ChannelUnavailableError when the file cannot be opened; StateFormatError for a file of another application or
   * schema version, which stays unchanged; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid
   * value.
   */
  static async open(options: SqliteSessionChannelOptions): Promise<SqliteSessionChannel> {
    const { path, pollSeconds = DEFAULT_POLL_SECONDS } = checkOptions(options);
    const location = resolve(path);
    try {
      const database = openDatabase(location, BUSY_TIMEOUT_SECONDS, CHANNEL_LAYOUT);
      return new SqliteSessionChannel(location, new ChannelLog(database), pollSeconds);
    } catch (error) {
      throw error instanceof StoreUnavailableError ? unavailable(location, error) : error;
    }
  }

  async publish(
    sessionId: string,
    batch: readonly ChannelEntry[],
    { trim = false }: PublishOptions = {},
  ): Promise<void> {
    this.use(() => {
      if (batch.length > 0 || trim) this.log.publish(sessionId, batch.map(writeChannelEntry), trim);
    });
  }

  async subscribe(
    sessionId: string,
    listener: (news: ChannelNews) => void,
    { signal }: SubscribeOptions,
  ): Promise<void> {
    this.use(() => {
      if (!signal.aborted) this.open(sessionId, listener, signal);
    });
  }

  async notify(sessionId: string, notification: ChannelNotification): Promise<void> {
    this.use(() => this.log.notify(sessionId, writeChannelNotification(notification)));
  }

  onNotification(sessionId: string, listener: (notification: ChannelNotification) => void): () => void {
    if (this.isClosed) return () => undefined;
    const receive = ({ content }: LogRow): void => listener(readChannelNotification(content));
    try {
      return this.register(this.poll.add(sessionId, 'notification', receive));
    } catch {
      return () => undefined; // the worker reads its inbox with each heartbeat
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    for (const end of this.ends) end();
    this.isClosed = true;
    this.poll.stop();
    this.log.close();
  }

  /** Calls a function that uses the file. */
  private use(act: () => void): void {
    if (this.isClosed) throw channelClosed();
    if (!this.isSameFile())
      throw unavailable(this.path, new Error('It was deleted or replaced. Open the channel again.'));
    try {
      act();
    } catch (error) {
      throw unavailable(this.path, error);
    }
  }

  /** Gives a subscription the present tail, and then each batch after it. */
  private open(sessionId: string, listener: (news: ChannelNews) => void, signal: AbortSignal): void {
    let cursor = Number.POSITIVE_INFINITY;
    const receive = ({ id, previousId, content }: LogRow): void => {
      if (id <= cursor) return;
      const missing = previousId === cursor ? [] : [GAP];
      cursor = id;
      subscription.receive([...missing, ...newsOf([content])]);
    };
    const end = this.register(this.poll.add(sessionId, 'batch', receive));
    const subscription = new ChannelSubscription(listener, signal, end);
    try {
      const { lastId, contents } = this.log.readTail(sessionId);
      cursor = lastId;
      subscription.receive(newsOf(contents));
    } catch (error) {
      subscription.end();
      throw error;
    }
  }

  /** Returns a function that removes a listener. `close` calls it too. */
  private register(remove: () => void): () => void {
    const end = (): void => {
      this.ends.delete(end);
      remove();
    };
    this.ends.add(end);
    return end;
  }
}

function newsOf(contents: readonly string[]): readonly ChannelNews[] {
  return readChannelNews(contents.flatMap((content) => content.split('\n')));
}

function unavailable(path: string, cause: unknown): ChannelUnavailableError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ChannelUnavailableError(`The channel file ${path} is not available. ${why}`, { cause });
}
