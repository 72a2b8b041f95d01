import { driverTests } from '@holdfast/conformance';
import { afterAll, describe, test } from 'vitest';
import { fetchAbilities, fetchHarness } from './fetch-harness.ts';
import { OpenAiServer } from './openai/openai-server.ts';

const server = await OpenAiServer.start();

afterAll(() => server.stop());

describe('a driver on fetch', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(driverTests({ create: fetchHarness(server), ...fetchAbilities }))('$name', ({ run }) => run());
});
