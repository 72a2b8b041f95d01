import { StateFormatError, StoreUnavailableError } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';
import { partitionOf, type IncarnationKey } from '../table/keys.ts';
import { fromPayload } from '../table/payload.ts';
import { blobKey } from './blob-keys.ts';
import type { BlobStore } from './blob-store.ts';
import { hasHashOf, type NewBlob } from './references.ts';

const REQUESTS_AT_ONCE = 8;

/** Reads and writes the blobs of sessions in a blob store. */
export class Blobs {
  /** The store writes values of at least this many bytes as blobs. */
  readonly minBytes: number;
  private readonly store: BlobStore;

  constructor(store: BlobStore, minBytes: number) {
    this.store = store;
    this.minBytes = minBytes;
  }

  /**
   * Puts blobs, several at the same time. When it rejects, no put is still running.
   * @throws StoreUnavailableError `STORE_UNAVAILABLE` when a put failed
   */
  async put(key: IncarnationKey, blobs: readonly NewBlob[]): Promise<void> {
    await forEachAtOnce(blobs, ({ reference, payload }) =>
      request('put', () => this.store.put(blobKey(key, reference), payload)),
    );
  }

  /**
   * Reads the blobs that are not in `texts` yet, and adds their texts to `texts`. Omits missing blobs.
   * @throws StateFormatError `STATE_FORMAT` when the bytes of a blob do not have the hash in its key
   * @throws StoreUnavailableError `STORE_UNAVAILABLE` when a get failed
   */
  async read(
    { sessionId, incarnation }: { readonly sessionId: string; readonly incarnation: string },
    references: Iterable<string>,
    texts: Map<string, string>,
  ): Promise<void> {
    const unread = [...references].filter((reference) => !texts.has(reference));
    await forEachAtOnce(unread, async (reference) => {
      const key = blobKey({ pk: partitionOf(sessionId), incarnation }, reference);
      const payload = await request('get', () => this.store.get(key));
      if (payload === undefined) return;
      const what = describeBlob(sessionId, key);
      if (!hasHashOf(reference, payload)) {
        throw new StateFormatError(
          what,
          'bytes with the SHA-256 in its key',
          `${payload.length} other bytes`,
        );
      }
      texts.set(reference, await fromPayload(payload, what));
    });
  }

  async delete(key: IncarnationKey, references: readonly string[]): Promise<void> {
    await forEachAtOnce(references, (reference) =>
      request('delete', () => this.store.delete(blobKey(key, reference))),
    );
  }
}

/** The error for a session that refers to a missing blob. */
export function missingBlobError({ info, incarnation }: SessionRecord, reference: string): StateFormatError {
  const key = blobKey({ pk: partitionOf(info.sessionId), incarnation }, reference);
  return new StateFormatError(describeBlob(info.sessionId, key), 'a stored blob', 'no blob');
}

/** The error for a session with blobs in a store without the option `blobs`. */
export function blobsRequiredError(sessionId: string): StateFormatError {
  return new StateFormatError(
    `session ${JSON.stringify(sessionId)}`,
    'a DynamoDbSessionStore with the option `blobs`, because the session has blobs',
    'a store without this option',
  );
}

function describeBlob(sessionId: string, key: string): string {
  return `the blob ${key} of session ${JSON.stringify(sessionId)}`;
}

async function request<T>(operation: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const message = `The blob store failed to ${operation} a blob (${reason}).`;
    throw new StoreUnavailableError(message, { isAmbiguous: false, cause });
  }
}

/**
 * Calls a function for each value, several at the same time. After a failure it starts no further calls, waits for the
 * running calls, and throws the first error.
 */
async function forEachAtOnce<T>(values: readonly T[], run: (value: T) => Promise<void>): Promise<void> {
  const queue = values.values();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const value of queue) {
      if (failures.length > 0) return;
      await run(value).catch((error: unknown) => void failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  if (failures.length > 0) throw failures[0];
}
