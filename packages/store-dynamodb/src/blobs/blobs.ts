import { StateFormatError, StoreUnavailableError } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';
import { partitionOf } from '../table/keys.ts';
import type { IncarnationKey } from '../table/keys.ts';
import { fromPayload } from '../table/payload.ts';
import { blobKey } from './blob-keys.ts';
import type { BlobStore } from './blob-store.ts';
import { hasHashOf } from './references.ts';
import type { NewBlob } from './references.ts';

const REQUESTS_AT_ONCE = 8;

/** The blobs of sessions, in a blob store that knows only keys and bytes. */
export class Blobs {
  /** Values of so many bytes become blobs. */
  readonly minBytes: number;
  private readonly store: BlobStore;

  constructor(store: BlobStore, minBytes: number) {
    this.store = store;
    this.minBytes = minBytes;
  }

  /** @throws StoreUnavailableError when a put failed. No other put is under way then. */
  async put(key: IncarnationKey, blobs: readonly NewBlob[]): Promise<void> {
    await forEachAtOnce(blobs, ({ reference, payload }) =>
      request('put', () => this.store.put(blobKey(key, reference), payload)),
    );
  }

  /**
   * Reads blobs, and adds their texts to `texts`, which holds those that are known. Omits missing blobs.
   * @throws StateFormatError for a blob with other bytes; StoreUnavailableError
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
        throw new StateFormatError(what, 'bytes with the SHA-256 in its key', `${payload.length} others`);
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
  return new StateFormatError(describeBlob(info.sessionId, key), 'a blob that is there', 'nothing');
}

/** The error for a session with blobs in a store without the option `blobs`. */
export function blobsRequiredError(sessionId: string): StateFormatError {
  return new StateFormatError(
    `session ${JSON.stringify(sessionId)}`,
    'a DynamoDbSessionStore with the option `blobs`, in which its large values are kept',
    'one without',
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
    const message = `The blob store did not carry out a ${operation} (${reason}).`;
    throw new StoreUnavailableError(message, { isAmbiguous: false, cause });
  }
}

/** Runs a function for each value, some at once. After a failure it starts no more, and waits for those under way. */
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
