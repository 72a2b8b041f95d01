import { sessionStoreCases } from '@holdfast/conformance';
import { nameOf } from '../../run/red-cases.ts';
import { testRedCases } from '../../run/test-cases.ts';
import { GROUPS } from './defects.ts';
import { expected, testDefects } from './test-defects.ts';

testDefects('writing', 'racing', 'storing', 'filling', 'answering', 'extending');

const defects = Object.values(GROUPS).flatMap((group) => Object.keys(group));
testRedCases('store', expected, defects, sessionStoreCases.map(nameOf));
