import { answering } from './answering.ts';
import { testDefects } from './failures.ts';

testDefects(answering);
