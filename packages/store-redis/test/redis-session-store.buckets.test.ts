import { sessionStoreTests } from '@holdfast/conformance';
import { testCases } from '@holdfast/conformance/vitest';
import { describe } from 'vitest';
import { harness, testServer } from './support/harness.ts';

const server = testServer();

describe('seven buckets', () => {
  testCases(sessionStoreTests(harness(() => server.client, { buckets: 7 })));
});
