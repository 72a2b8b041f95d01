import { EFFORT, testVariants } from './support/store-variants.ts';

testVariants([
  {
    name: 'with nearly all values as blobs',
    options: {},
    minBytes: 100,
    cases:
      EFFORT > 1
        ? /./u
        : /^(?:writes: (?!8 )|replays:|values:|reopening:|rows:|faults: (?!list|.* throttled))/u,
  },
  {
    name: 'with nearly all values as blobs, and a compaction at each save',
    options: { compactAfterSaves: 1 },
    minBytes: 100,
    cases: EFFORT > 1 ? /^(?!costs:)/u : /^(?:changes: (?!5,000|every)|inbox:|history:)/u,
  },
]);
