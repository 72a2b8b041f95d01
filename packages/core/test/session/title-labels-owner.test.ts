import { AgentSession, describe as describeSession } from '@holdfast/core';
import { expect, test } from 'vitest';
import { LABELS, OWNER, TITLE } from '../../src/session/title-labels-owner.ts';

const labelsOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`label ${index}`, 'x']));

test.each<readonly [unknown, boolean]>([
  ['a', true],
  ['\0\n🦊', true],
  ['o'.repeat(1_000), true],
  ['o'.repeat(1_001), false],
  ['', false],
  ['\ud800', false],
  [7, false],
  [undefined, false],
])('an owner is a text of 1 to 1,000 characters: case %#', (value, isAccepted) => {
  expect(OWNER.accepts(value)).toBe(isAccepted);
});

test.each<readonly [unknown, boolean]>([
  ['t'.repeat(500), true],
  ['t'.repeat(501), false],
  ['', false],
  ['\udfff', false],
  [null, false],
])('a title is a text of 1 to 500 characters: case %#', (value, isAccepted) => {
  expect(TITLE.accepts(value)).toBe(isAccepted);
});

test.each<readonly [unknown, boolean]>([
  [{}, true],
  [labelsOf(16), true],
  [labelsOf(17), false],
  [{ ['n'.repeat(64)]: 'v'.repeat(256) }, true],
  [{ ['n'.repeat(65)]: 'v' }, false],
  [{ n: 'v'.repeat(257) }, false],
  [{ '': 'v' }, false],
  [{ n: '' }, false],
  [{ n: 1 }, false],
  [{ n: undefined }, false],
  [{ '\ud800': 'v' }, false],
  [['v'], false],
  ['v', false],
])('labels are at most 16 small texts: case %#', (value, isAccepted) => {
  expect(LABELS.accepts(value)).toBe(isAccepted);
});

test('creation and the action refuse what lists cannot show', () => {
  const definition = { name: 'helper' };
  const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
  for (const init of [{ owner: '' }, { title: 't'.repeat(501) }, { labels: labelsOf(17) }])
    expect(() => AgentSession.create({ definition, ...init })).toThrow(refused);
  for (const wrong of [{ title: '' }, { labels: { n: '' } }, { owner: 'ada' }])
    expect(() => describeSession(wrong as never)).toThrow(refused);
});
