import type { Instant } from '@holdfast/core';
import { parseSeenWorker, type SeenWorker } from '@holdfast/core/store';
import { keyOf, type Item } from '../table/item.ts';
import { instantKey, sha256, type ItemKey } from '../table/keys.ts';
import { fromPayload, toPayload } from '../table/payload.ts';
import { LAST_KEY, type Table } from '../table/table.ts';

/** The partition of the announced workers. No session has this partition. */
const WORKERS = 'W';
/** The largest payload of a worker. It leaves 50 KB of the item for the other attributes. */
const MAX_PAYLOAD_BYTES = 350 * 1024;
/** Longer names are hashed, because a sort key has at most 1,024 bytes. */
const MAX_PLAIN_NAME_BYTES = 512;

/** The announced workers. Each is an item, whose revision is the instant until which the worker counts. */
export class AnnouncedWorkers {
  private readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** Replaces the announcement of a worker. Removes the worker when `until` is not after the announcement. */
  async announce(worker: SeenWorker, until: Instant): Promise<void> {
    const key = keyOfWorker(worker.workerName);
    if (until <= worker.seenAt) return this.table.deleteEach([key]);
    const payload = { B: await workerPayload(worker) };
    await this.table.put({ pk: { S: key.pk }, sk: { S: key.sk }, rev: { S: instantKey(until) }, payload });
  }

  /** Omits damaged items. */
  async list(now: Instant): Promise<readonly SeenWorker[]> {
    const workers: SeenWorker[] = [];
    for await (const items of this.itemPages()) {
      for (const item of items) {
        const worker = isCurrent(item, now) ? await readWorker(item) : undefined;
        if (worker) workers.push(worker);
      }
    }
    return workers;
  }

  /** Deletes the workers whose time is over. A worker that announces itself meanwhile stays. */
  async prune(now: Instant): Promise<void> {
    for await (const items of this.itemPages({ ProjectionExpression: 'pk, sk, rev' })) {
      for (const item of items) {
        if (!isCurrent(item, now)) await this.table.compareAndDelete(keyOf(item), item['rev']?.S ?? '');
      }
    }
  }

  private itemPages(options?: { readonly ProjectionExpression: string }): AsyncGenerator<readonly Item[]> {
    return this.table.itemPages(WORKERS, { from: '0', to: LAST_KEY }, options);
  }
}

function keyOfWorker(name: string): ItemKey {
  const isShort = Buffer.byteLength(name) <= MAX_PLAIN_NAME_BYTES;
  return { pk: WORKERS, sk: isShort ? `S#${name}` : `H#${sha256(name).toString('hex')}` };
}

/** The payload of a worker. If it is too large, it has only the first of the sessions. */
async function workerPayload(worker: SeenWorker): Promise<Uint8Array> {
  const payload = await toPayload(JSON.stringify(worker));
  if (payload.length <= MAX_PAYLOAD_BYTES) return payload;
  const { sessionIds } = worker;
  return workerPayload({ ...worker, sessionIds: sessionIds.slice(0, Math.floor(sessionIds.length / 2)) });
}

function isCurrent({ rev }: Item, now: Instant): boolean {
  return (rev?.S ?? '') > instantKey(now);
}

async function readWorker({ sk, payload }: Item): Promise<SeenWorker | undefined> {
  const text = await fromPayload(payload?.B, `the worker ${JSON.stringify(sk?.S)}`).catch(() => undefined);
  return text === undefined ? undefined : parseSeenWorker(text);
}
