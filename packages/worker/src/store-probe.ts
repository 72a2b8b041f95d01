import type { SessionStore } from '@holdfast/core';
import { setTimeout as pause } from 'node:timers/promises';

/** The state of a store, for a health check. */
export interface StoreHealth {
  /** Why the store cannot be used; `undefined` when it replies. */
  readonly reason?: string;
  /** How long the longest waiting session has been due. */
  readonly backlogSeconds?: number;
}

const LIMIT_SECONDS = 2;

/** Looks whether a store replies in time. Health checks at the same time share one query. */
export class StoreProbe {
  private readonly store: SessionStore;
  private query: Promise<StoreHealth> | undefined;

  constructor(store: SessionStore) {
    this.store = store;
  }

  async look(): Promise<StoreHealth> {
    this.query ??= this.read().finally(() => (this.query = undefined));
    const timer = new AbortController();
    const late = pause(LIMIT_SECONDS * 1_000, LATE, { signal: timer.signal }).catch(() => LATE);
    const health = await Promise.race([this.query, late]);
    timer.abort();
    return health;
  }

  private async read(): Promise<StoreHealth> {
    try {
      const [longest] = (await this.store.due({ limit: 1 })).sessions;
      return { backlogSeconds: longest ? Math.max(0, (Date.now() - longest.dueAt) / 1_000) : 0 };
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      return { reason: `The store fails${typeof code === 'string' ? ` with ${code}` : ''}.` };
    }
  }
}

const LATE: StoreHealth = { reason: `The store does not reply within ${LIMIT_SECONDS} seconds.` };
