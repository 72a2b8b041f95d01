import { testDefects } from './failures.ts';
import { reading } from './reading.ts';

testDefects(reading);
