import { BackedSessionStore } from '@holdfast/core/store';
import type { SessionStore } from '@holdfast/core';
import type { SessionBackend } from '@holdfast/core/store';
import type { CreateStore, StoreAbilities, StoreSettings } from '@holdfast/conformance';
import { MapBackend } from './map-backend.ts';
import type { Entries, Ways } from './map-backend.ts';
import { Wire } from './wire.ts';

/** What a store is made of, from the inside out. What is not given is sound. */
export interface StoreParts {
  /** How the backend keeps the sessions. */
  readonly ways?: Partial<Ways>;
  /** What speaks to the backend over the wire. */
  readonly client?: (backend: SessionBackend) => Partial<SessionBackend>;
  /** What the store is made with, whatever it is told. */
  readonly settings?: StoreSettings;
  /** What users see. */
  readonly store?: (store: SessionStore, entries: Entries) => Partial<SessionStore>;
}

/** A harness that can do everything, on a backend of one's own. Makes one store at a time. */
export function mapHarness({ ways, client, settings: own, store }: StoreParts = {}): {
  readonly createStore: CreateStore;
  readonly abilities: StoreAbilities;
} {
  const wire = new Wire();
  let entries: Entries = new Map();
  const open: CreateStore = async (clock, settings) => {
    const remote = wire.to(new MapBackend(entries, ways));
    const sound = new BackedSessionStore(over(remote, client?.(remote)), { clock, ...settings, ...own });
    return over(sound, store?.(sound, entries));
  };
  return {
    createStore(clock, settings) {
      entries = new Map();
      return open(clock, settings);
    },
    abilities: {
      reopen: open,
      measure: wire.measure,
      faults: wire,
      async remember() {
        const kept = new Map(entries);
        return async () => {
          entries.clear();
          for (const [key, entry] of kept) entries.set(key, entry);
        };
      },
    },
  };
}

/** The object with some of its members exchanged. */
function over<T extends object>(sound: T, changes: Partial<T> = {}): T {
  return Object.assign(Object.create(sound) as T, changes);
}
