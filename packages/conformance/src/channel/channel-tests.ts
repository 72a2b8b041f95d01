import type { CaseRun } from '../run/case-run.ts';
import { conformanceTest, type ConformanceTest } from '../run/conformance-test.ts';
import { DEFAULT_LIMIT_SECONDS } from '../run/harness.ts';
import { checkChannelHarness, type ChannelHarness } from './channel-case.ts';
import { channelCases } from './channel-cases.ts';

/**
 * Converts the cases to tests of one channel. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of channelTests({ create, tail: true })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown member of the harness or an invalid value
 */
export function channelTests(harness: ChannelHarness): readonly ConformanceTest[] {
  checkChannelHarness(harness);
  const { turnMilliseconds = 0 } = harness;
  const limitSeconds = harness.limitSeconds ?? DEFAULT_LIMIT_SECONDS + turnMilliseconds;
  return channelCases.map((one) => {
    const missing = one.needs?.filter((ability) => !harness[ability]) ?? [];
    const named = { ...one, needs: missing.join(', ') };
    return conformanceTest(named, { skip: missing.length > 0, limitSeconds }, (run) => {
      const { create, ...abilities } = channelHarnessOf(harness, run);
      return one.run(create, abilities);
    });
  });
}

/** The harness for one run, which watches and closes its channels. */
function channelHarnessOf(harness: ChannelHarness, run: CaseRun): ChannelHarness {
  const { create, reopen } = harness;
  return {
    ...harness,
    create: run.creating('create', 'channel', create),
    reopen: reopen && run.creating('reopen', 'channel', reopen),
  };
}
