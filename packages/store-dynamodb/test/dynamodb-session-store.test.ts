import { EFFORT, testVariants } from './support/store-variants.ts';

testVariants([
  {
    name: 'DynamoDbSessionStore',
    options: {},
    // A value of the largest size takes seconds.
    groups: EFFORT > 1 ? /./u : /^(?!sizes: a \w+ of the largest)/u,
  },
]);
