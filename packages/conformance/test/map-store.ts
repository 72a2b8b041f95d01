import { BackedSessionStore } from '@holdfast/core';
import type { CreateStore, StoreAbilities } from '@holdfast/conformance';
import { MapBackend } from './map-backend.ts';
import type { Entries } from './map-backend.ts';
import { Wire } from './observed-backend.ts';

/** A harness that can do everything, on a backend of one's own. Makes one store at a time. */
export function mapHarness(
  backendOf: (entries: Entries) => MapBackend = (entries) => new MapBackend(entries),
): {
  readonly createStore: CreateStore;
  readonly abilities: StoreAbilities;
} {
  const wire = new Wire();
  let entries: Entries = new Map();
  const open: CreateStore = async (clock, settings) =>
    new BackedSessionStore(wire.to(backendOf(entries)), { clock, ...settings });
  return {
    createStore(clock, settings) {
      entries = new Map();
      return open(clock, settings);
    },
    abilities: { reopen: open, measure: wire.measure, faults: wire },
  };
}
