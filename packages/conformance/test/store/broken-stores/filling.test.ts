import { testDefects } from './failures.ts';
import { filling } from './filling.ts';

testDefects(filling);
