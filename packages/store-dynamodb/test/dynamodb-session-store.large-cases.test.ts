import { EFFORT, testVariants } from './support/store-variants.ts';

testVariants([
  {
    name: 'DynamoDbSessionStore',
    options: {},
    parts: ['large'],
    // A value of the largest size takes seconds.
    cases: EFFORT > 1 ? /./u : /^(?!sizes: a \w+ of the largest)/u,
  },
]);
