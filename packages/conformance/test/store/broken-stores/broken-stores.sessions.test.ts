import { testDefects } from './test-defects.ts';

testDefects('claiming', 'finding', 'reading', 'showing', 'owning');
