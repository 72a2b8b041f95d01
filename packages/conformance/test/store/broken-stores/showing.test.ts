import { testDefects } from './failures.ts';
import { showing } from './showing.ts';

testDefects(showing);
