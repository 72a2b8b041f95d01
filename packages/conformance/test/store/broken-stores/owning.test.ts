import { testDefects } from './failures.ts';
import { owning } from './owning.ts';

testDefects(owning);
