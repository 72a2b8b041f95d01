import { driverTests } from '@holdfast/conformance';
import { OpenAiServer } from '@holdfast/conformance/test';
import { testCases } from '@holdfast/conformance/vitest';
import { afterAll, describe } from 'vitest';
import { aimockAbilities, createAtAimock } from '../http/aimock-harness.ts';
import { deepSeekAbilities, deepSeekHarness, openAiAbilities, openAiHarness } from './conformance-harness.ts';

const server = await OpenAiServer.start();

afterAll(() => server.stop());

describe.each([
  ['OpenAI', driverTests({ create: openAiHarness(server), ...openAiAbilities })],
  ['OpenAI at aimock', driverTests({ create: createAtAimock, ...aimockAbilities })],
  ['DeepSeek', driverTests({ create: deepSeekHarness(server), ...deepSeekAbilities })],
])('aiSdkDriver with %s', (_, tests) => {
  testCases(tests);
});
