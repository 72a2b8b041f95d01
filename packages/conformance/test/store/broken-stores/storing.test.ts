import { storing } from './storing.ts';
import { testDefects } from './failures.ts';

testDefects(storing);
