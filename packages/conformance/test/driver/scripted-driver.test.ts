import { driverTests } from '@holdfast/conformance';
import { describe } from 'vitest';
import { testCases } from '../run/test-cases.ts';
import { createDriver, scriptedAbilities } from './scripted-provider.ts';

describe('scriptedDriver', () => {
  testCases(driverTests({ create: createDriver, ...scriptedAbilities }));
});
