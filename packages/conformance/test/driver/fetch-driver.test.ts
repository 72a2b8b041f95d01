import { driverTests } from '@holdfast/conformance';
import { afterAll, describe } from 'vitest';
import { testCases } from '../run/test-cases.ts';
import { fetchAbilities, fetchHarness } from './fetch-harness.ts';
import { OpenAiServer } from './openai/openai-server.ts';

const server = await OpenAiServer.start();

afterAll(() => server.stop());

describe('a driver on fetch', () => {
  testCases(driverTests({ create: fetchHarness(server), ...fetchAbilities }));
});
