import { driverTests } from '@holdfast/conformance';
import { describe, test } from 'vitest';
import { createDriver, scriptedAbilities } from './scripted-provider.ts';

describe('scriptedDriver', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(driverTests({ create: createDriver, ...scriptedAbilities }))('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
