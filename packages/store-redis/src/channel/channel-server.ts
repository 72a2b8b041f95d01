import { NOTIFY_WORKER, PUBLISH_ENTRIES, type RedisScript } from '../scripts/redis-script.ts';
import { SelectedDatabase } from '../server/selected-database.ts';
import type { LinkClient } from './channel-client.ts';
import type { ChannelKeys } from './channel-keys.ts';
import { ChannelLink } from './channel-link.ts';
import { readEntryId, writeEntryId, type EntryId } from './entry-id.ts';
import type { TailEntry } from './redis-tail.ts';

/** The least number of entries that a tail keeps, and the time after which an unchanged tail expires. */
const LONGEST_TAIL = 2_000;
const TAIL_LIFETIME_MS = 600_000;
/** The time for which the server keeps a notification. */
const NOTIFICATION_LIFETIME_MS = 5_000;

type StreamEntry = readonly [id: Buffer, fields: readonly [name: Buffer, text: Buffer]];
type RunScript = (args: readonly (string | number)[]) => Promise<unknown>;

/** The commands of a channel. Each fails fast with a ChannelUnavailableError. */
export class ChannelServer {
  private readonly client: LinkClient;
  private readonly link: ChannelLink;
  private readonly database: SelectedDatabase;

  constructor(client: LinkClient) {
    this.client = client;
    this.link = new ChannelLink(client);
    this.database = new SelectedDatabase(client);
    for (const { name, lua } of [PUBLISH_ENTRIES, NOTIFY_WORKER]) client.defineCommand(name, { lua });
  }

  async ping(): Promise<void> {
    await this.send(() => this.client.ping());
  }

  /** Appends entries to a tail, and wakes its subscribers. */
  async publish({ tail, wake }: ChannelKeys, texts: readonly string[], isTrimmed: boolean): Promise<void> {
    const args = [wake, LONGEST_TAIL, TAIL_LIFETIME_MS, isTrimmed ? 1 : 0, ...texts];
    await this.run(PUBLISH_ENTRIES, tail, args);
  }

  /** Sends a notification, and keeps it for some seconds. */
  async notify({ notify, notified }: ChannelKeys, text: string): Promise<void> {
    await this.run(NOTIFY_WORKER, notified, [notify, text, NOTIFICATION_LIFETIME_MS]);
  }

  /** The last notification, if it is some seconds old at most. */
  async lastNotification({ notified }: ChannelKeys): Promise<string | undefined> {
    const text = await this.send(() => this.client.callBuffer('get', [notified]));
    return Buffer.isBuffer(text) ? text.toString() : undefined;
  }

  /** The entries of a tail after an entry; all entries without one. */
  async read(tail: string, after: EntryId | undefined): Promise<readonly TailEntry[]> {
    const start = after ? `(${writeEntryId(after)}` : '-';
    const entries = await this.send(() => this.client.callBuffer('xrange', [tail, start, '+']));
    return (entries as readonly StreamEntry[]).map(([id, [, text]]) => ({
      id: readEntryId(String(id)),
      text: String(text),
    }));
  }

  close(): void {
    this.client.disconnect();
  }

  private send<T>(request: () => Promise<T>): Promise<T> {
    return this.link.send(async () => {
      await this.database.select();
      return request();
    });
  }

  private async run(script: RedisScript, key: string, args: readonly (string | number)[]): Promise<void> {
    const { client } = this;
    const methods = client as unknown as Record<string, RunScript | undefined>; // `defineCommand` adds methods
    await this.send(async () => methods[script.name]?.call(client, [1, key, ...args]));
  }
}
