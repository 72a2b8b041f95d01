import { racing } from './racing.ts';
import { testDefects } from './failures.ts';

testDefects(racing);
