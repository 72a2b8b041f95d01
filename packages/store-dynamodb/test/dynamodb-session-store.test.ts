import { testVariants } from './support/store-variants.ts';

testVariants([{ name: 'DynamoDbSessionStore', options: {}, parts: ['core'] }]);
