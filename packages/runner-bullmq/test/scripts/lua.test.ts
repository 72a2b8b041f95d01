import { expect, test } from 'vitest';
import { LEVEL } from '../../src/layout/group-slots.ts';
import { LUA } from '../../src/scripts/lua.ts';

test('a level of priority has the same size in the script as in the order that it gets', () => {
  expect(LUA['group-slots']).toContain(`\nlocal LEVEL = ${LEVEL} --`);
});
