import { EFFORT, testVariants } from './support/store-variants.ts';

testVariants([
  { name: 'with a client that does not retry', options: { maxAttempts: 1 }, cases: /^faults:/u },
  {
    name: 'with a compaction at each save, and one shard',
    options: { compactAfterSaves: 1, shards: 1 },
    // The inbox meets such a log below, 8 writers meet one in races.test.ts.
    cases:
      EFFORT > 1
        ? /^(?:writes: (?!8 )|replays:|changes:|claims:|fencing:|due:|lists:|reopening:)/u
        : /^(?:writes: (?!8 )|replays:|changes: (?!5,000|every)|reopening:)/u,
  },
]);
