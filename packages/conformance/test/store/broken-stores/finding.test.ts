import { finding } from './finding.ts';
import { testDefects } from './failures.ts';

testDefects(finding);
