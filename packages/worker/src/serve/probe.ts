import type { SessionDirectory } from '@holdfast/core';
import type { LaneBacklog } from '@holdfast/core/engine';
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerEngine } from './worker-engine.ts';

/** The state of the store and the queue of a worker, for a health check. */
export interface Health {
  /** Why the worker cannot work; `undefined` when the store and the queue reply. */
  readonly reason?: string;
  /** How long the longest waiting session has been due, in the store or in the queue. */
  readonly backlogSeconds?: number;
  /** The wake-ups that wait in each lane of the queue. */
  readonly backlog?: readonly LaneBacklog[] | undefined;
}

const LIMIT_SECONDS = 2;

/** Looks whether the store and the queue reply in time. Health checks at the same time share one look. */
export class Probe {
  readonly look: () => Promise<Health> = shared(() => this.read());
  private readonly due: () => ReturnType<SessionDirectory['due']>;
  private readonly backlog: () => Promise<readonly LaneBacklog[] | undefined>;

  constructor(store: SessionDirectory, engine: WorkerEngine) {
    this.due = shared(() => store.due({ limit: 20 })); // the first may be unreadable
    this.backlog = shared(async () => engine.backlog?.());
  }

  private async read(): Promise<Health> {
    try {
      const [page, backlog] = await Promise.all([
        inTime('store', this.due()),
        inTime('queue', this.backlog()),
      ]);
      const waits = [
        ...page.sessions.map(({ dueAt }) => dueAt),
        ...(backlog ?? []).map(({ since }) => since),
      ];
      const now = Date.now();
      const seconds = waits.map((since) => (since === undefined ? 0 : (now - since) / 1_000));
      return { backlogSeconds: Math.max(0, ...seconds), backlog };
    } catch (error) {
      return { reason: (error as Error).message };
    }
  }
}

/**
 * Returns a function whose callers share a request while it is pending. A server that was away must not receive all their
 * requests when it is back.
 */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => (pending ??= ask().finally(() => (pending = undefined)));
}

/** Resolves with the reply of a part. Rejects with the reason for the health check when the reply is late or an error. */
async function inTime<T>(part: string, reply: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = pause(LIMIT_SECONDS * 1_000, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`The ${part} does not reply within ${LIMIT_SECONDS} seconds.`);
  });
  const replied = reply.catch((error: unknown) => {
    const { code } = error as { readonly code?: unknown };
    throw new Error(`The ${part} fails${typeof code === 'string' ? ` with ${code}` : ''}.`, { cause: error });
  });
  return Promise.race([replied, late]).finally(() => timer.abort());
}
