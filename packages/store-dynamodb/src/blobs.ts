import { StateFormatError, StoreUnavailableError } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';
import type { BlobStore } from './blob-store.ts';
import { blobKey, partitionOf } from './keys.ts';
import { isOf } from './large-values.ts';
import type { NewBlob } from './large-values.ts';
import { fromPayload } from './payload.ts';

/** Whose a blob is: it goes with him. */
export interface BlobOwner {
  readonly pk: string;
  readonly incarnation: string;
}

/** A session, and which one of those that had its id. */
export interface BlobSession {
  readonly sessionId: string;
  readonly incarnation: string;
}

const AT_ONCE = 8;

/** The blobs that sessions refer to, in a store that knows nothing of sessions. */
export class Blobs {
  /** Values of so many bytes are blobs. */
  readonly fromBytes: number;
  private readonly store: BlobStore;

  constructor(store: BlobStore, fromBytes: number) {
    this.store = store;
    this.fromBytes = fromBytes;
  }

  /** @throws StoreUnavailableError when one could not be put; none is on its way then. */
  async put(owner: BlobOwner, blobs: readonly NewBlob[]): Promise<void> {
    await eachOf(blobs, ({ ref, payload }) =>
      attempted('put', () => this.store.put(keyOf(owner, ref), payload)),
    );
  }

  /** Adds the texts that references stand for, unless they are known. What is not there is left out. */
  async read(
    { sessionId, incarnation }: BlobSession,
    refs: Iterable<string>,
    texts: Map<string, string>,
  ): Promise<void> {
    const owner = { pk: partitionOf(sessionId), incarnation };
    await eachOf(
      [...refs].filter((ref) => !texts.has(ref)),
      async (ref) => {
        const payload = await attempted('get', () => this.store.get(keyOf(owner, ref)));
        if (payload === undefined) return;
        const what = nameOf(sessionId, keyOf(owner, ref));
        if (!isOf(ref, payload)) {
          throw new StateFormatError(what, 'bytes with the SHA-256 in its key', `${payload.length} others`);
        }
        texts.set(ref, await fromPayload(payload, what));
      },
    );
  }

  async delete(owner: BlobOwner, refs: readonly string[]): Promise<void> {
    await eachOf(refs, (ref) => attempted('delete', () => this.store.delete(keyOf(owner, ref))));
  }
}

/** Says that a session refers to a blob that is not there. */
export function missingBlob({ info, incarnation }: SessionRecord, ref: string): StateFormatError {
  const key = keyOf({ pk: partitionOf(info.sessionId), incarnation }, ref);
  return new StateFormatError(nameOf(info.sessionId, key), 'a blob that is there', 'nothing');
}

/** Says that a session can be worked on only by a store that reaches its blobs. */
export function blobsNeeded(sessionId: string): StateFormatError {
  return new StateFormatError(
    `session ${JSON.stringify(sessionId)}`,
    'a DynamoDbSessionStore with the option `blobs`, in which its large values are kept',
    'one without',
  );
}

function nameOf(sessionId: string, key: string): string {
  return `the blob ${key} of session ${JSON.stringify(sessionId)}`;
}

function keyOf({ pk, incarnation }: BlobOwner, ref: string): string {
  return blobKey(pk, incarnation, ref);
}

async function attempted<T>(operation: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const message = `The blob store did not carry out a ${operation} (${reason}).`;
    throw new StoreUnavailableError(message, { isAmbiguous: false, cause });
  }
}

/** Does something with each, some at a time. After a failure no other begins, and those under way are waited for. */
async function eachOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (failures.length > 0) return;
      await run(item).catch((error: unknown) => void failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (failures.length > 0) throw failures[0];
}
