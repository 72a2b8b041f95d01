import { sessionStoreCosts } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { mapHarness } from './map-store.ts';

test('the costs of all operations of a store', async () => {
  const costs = await sessionStoreCosts(mapHarness());
  const requests = Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, cost.requests]));
  expect(requests).toEqual({
    create: 1,
    load: 1,
    'load with base': 1,
    claim: 2,
    'claim with base': 2,
    'refused claim': 1,
    renew: 1,
    enqueue: 2,
    'save a message of 1 KB': 1,
    'save a step': 1,
    release: 1,
    'list a page of one': 1,
    due: 1,
  });
  expect(costs['load with base'].bytes).toBeLessThan(costs.load.bytes / 50);
});
