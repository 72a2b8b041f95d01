import { test } from 'node:test';
import { sessionStoreTests } from '@holdfast/conformance';
import type { CreateStore } from '@holdfast/conformance';
import { MemorySessionStore } from '@holdfast/core';

const createStore: CreateStore = async (clock, settings) => new MemorySessionStore({ clock, ...settings });

for (const { name, skip, run } of sessionStoreTests(createStore)) {
  void test(name, { skip }, run); // => …fail 0…
}
