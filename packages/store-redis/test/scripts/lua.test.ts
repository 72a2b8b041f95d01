import { describe, expect, test } from 'vitest';
import { LUA } from '../../src/scripts/lua.ts';
import { RESULT } from '../../src/scripts/redis-script.ts';

describe.each(Object.entries(LUA))('%s', (_, lua) => {
  test('names each key and argument as its comment does, with the same number', () => {
    expect(namesInCode(lua)).toEqual(namesInComment(lua));
    expect(lua.match(/\b(?:KEYS|ARGV)\[\d+\]/gu)).toHaveLength(namesInCode(lua).length);
  });
});

test.each(Object.entries(RESULT))('the result %s has the same number in the script', (name, number) => {
  expect(LUA['compare-and-set']).toContain(`\nlocal ${name.toUpperCase()} = ${number}\n`);
});

/** The names in the lines of the first comment, as `KEYS 1 name`. */
function namesInComment(lua: string): string[] {
  let group = '';
  return lua.split('\n').flatMap((line) => {
    const [, heading, index, name] = /^-- (KEYS|ARGV|    )  (\d+) +(\w+)/u.exec(line) ?? [];
    group = heading?.trim() || group;
    return name === undefined ? [] : [`${group} ${index} ${name}`];
  });
}

/** The names of the locals at the top of the script, as `KEYS 1 name`. */
function namesInCode(lua: string): string[] {
  const locals = lua.matchAll(/^local (\w+) = (?:tonumber\()?(KEYS|ARGV)\[(\d+)\]\)?$/gmu);
  return [...locals].map(([, name, group, index]) => `${group} ${index} ${name}`);
}
