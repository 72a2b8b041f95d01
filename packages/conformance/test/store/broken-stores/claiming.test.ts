import { claiming } from './claiming.ts';
import { testDefects } from './failures.ts';

testDefects(claiming);
