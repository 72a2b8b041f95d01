import { ChannelUnavailableError } from '@holdfast/core/channel';
import type { LinkClient } from './channel-client.ts';

/** The time that a request waits for the connection, and then for the reply. */
const CONNECTION_TIMEOUT_MS = 1_000;
const REPLY_TIMEOUT_MS = 3_000;

/** Sends requests over one client, and fails fast: it queues none while the server is away. */
export class ChannelLink {
  private readonly client: LinkClient;
  private readonly waiting = new Set<() => void>();
  /** The last error of the connection. */
  private connectionError: Error | undefined;

  constructor(client: LinkClient) {
    this.client = client;
    // Requests report their errors. ioredis prints an error event that has no listener.
    client.on('error', (error) => (this.connectionError = error));
    client.on('ready', () => {
      this.connectionError = undefined;
      this.resume();
    });
    client.on('end', () => this.resume());
  }

  /**
   * Calls a function that sends a request, as soon as the client is connected.
   * @throws ChannelUnavailableError when there is no connection, or no reply, or the server refuses the request.
   */
  async send<T>(request: () => Promise<T>): Promise<T> {
    try {
      await this.connected();
      return await withDeadline(REPLY_TIMEOUT_MS, request);
    } catch (error) {
      const cause = error instanceof DeadlineError ? (this.connectionError ?? error) : error;
      const why = cause instanceof Error ? ` ${cause.message}` : '';
      throw new ChannelUnavailableError(`Redis is not available for the session channel.${why}`, { cause });
    }
  }

  private async connected(): Promise<void> {
    if (this.client.status === 'ready') return;
    if (this.client.status !== 'end') await this.nextConnection();
    if (this.client.status === 'end') throw this.connectionError ?? new Error('The connection has ended.');
  }

  /** Resolves when the client is connected, or has ended. @throws DeadlineError when that takes too long. */
  private async nextConnection(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.add(resolve);
    try {
      await withDeadline(CONNECTION_TIMEOUT_MS, () => promise);
    } finally {
      this.waiting.delete(resolve);
    }
  }

  private resume(): void {
    for (const resolve of this.waiting) resolve();
  }
}

class DeadlineError extends Error {}

/** The result of a call. @throws DeadlineError when the call has not settled in time. */
function withDeadline<T>(milliseconds: number, call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlineError('No reply arrived in time.')), milliseconds);
    const stop = (): void => clearTimeout(timer);
    call().then(resolve, reject).then(stop, stop);
  });
}
