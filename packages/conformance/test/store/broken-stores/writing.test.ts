import { writing } from './writing.ts';
import { testDefects } from './failures.ts';

testDefects(writing);
