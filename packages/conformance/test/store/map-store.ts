import { BackedSessionStore, type SessionBackend } from '@holdfast/core/store';
import type { CreateStore, SessionStoreHarness, StoreSettings, TestedStore } from '@holdfast/conformance';
import { Entries, MapBackend, MAX_VALUE_BYTES, rowsIn, type Ways } from './map-backend.ts';
import { Wire } from './wire.ts';

/** Parts of a store that a defect replaces, from the inside out. The other parts are correct. */
export interface StoreParts {
  /** Replaces operations of the backend. */
  readonly ways?: Partial<Ways>;
  /** Replaces methods of the backend as the store sees it, outside of the measured wire. */
  readonly client?: (backend: SessionBackend) => Partial<SessionBackend>;
  /** Settings that replace those of the case. */
  readonly settings?: StoreSettings;
  /** Replaces methods of the store. */
  readonly store?: (store: TestedStore) => Partial<TestedStore>;
  /** Replaces methods of the store by functions that read or change the map of the backend. */
  readonly inside?: (store: TestedStore, entries: Entries) => Partial<TestedStore>;
}

/** Creates a harness with all abilities, with a backend of its own. It supports one store at a time. */
export function mapHarness({
  ways,
  client,
  settings: own,
  store,
  inside,
}: StoreParts = {}): SessionStoreHarness {
  const wire = new Wire();
  let entries = new Entries();
  const open: CreateStore = async (clock, settings) => {
    const remote = wire.to(new MapBackend(entries, ways));
    const sound = new BackedSessionStore(over(remote, client?.(remote)), { clock, ...settings, ...own });
    const changes = { ...store?.(sound), ...inside?.(sound, entries) };
    return { store: over(sound, changes), close: () => sound.close() };
  };
  return {
    create(clock, settings) {
      entries = new Entries();
      return open(clock, settings);
    },
    reopen: open,
    measure: wire.measure,
    countRows: async () => rowsIn(entries),
    indexedFilters: ['owner', 'status', 'agentName', 'parentId', 'executionStatus', 'waitingFor'],
    maxValueBytes: MAX_VALUE_BYTES,
    faults: wire,
    async corrupt(sessionId, change) {
      const entry = entries.get(sessionId);
      if (entry) entries.set(sessionId, { ...entry, damaged: change(JSON.stringify(entry.record)) });
    },
    async remember() {
      const kept = new Map(entries);
      return async () => {
        entries.clear();
        for (const [key, entry] of kept) entries.set(key, entry);
      };
    },
  };
}

/** Returns the object with some of its members replaced. */
function over<T extends object>(sound: T, changes: Partial<T> = {}): T {
  return Object.assign(Object.create(sound) as T, changes);
}
