import { sessionStoreCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { answering } from './answering.ts';
import { claiming } from './claiming.ts';
import { expected } from './failures.ts';
import { filling } from './filling.ts';
import { finding } from './finding.ts';
import { owning } from './owning.ts';
import { racing } from './racing.ts';
import { reading } from './reading.ts';
import { showing } from './showing.ts';
import { storing } from './storing.ts';
import { writing } from './writing.ts';

const defects = Object.keys({
  ...writing,
  ...racing,
  ...claiming,
  ...finding,
  ...reading,
  ...showing,
  ...answering,
  ...storing,
  ...owning,
  ...filling,
});

test('every store with a defect fails a case', () => {
  expect(Object.keys(expected)).toEqual(defects);
  expect(defects.filter((defect) => expected[defect]?.length === 0)).toEqual([]);
});

test('every case is failed by a store with a defect', () => {
  const names = sessionStoreCases.map(({ group, name }) => `${group}: ${name}`);
  const failed = new Set(Object.values(expected).flat());
  expect(names.filter((name) => !failed.has(name))).toEqual([]);
  expect([...failed].filter((name) => !names.includes(name))).toEqual([]);
});
