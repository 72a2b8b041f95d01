import { parseDefinition } from '@holdfast/definitions';
import { expect, test } from 'vitest';
import { fasterGrowth, repeated, type Pump, type Work } from '../../../tools/config/vitest.growth.ts';
import { adviceForUnknown } from '../src/file-keys.ts';
import { splitFrontMatter } from '../src/front-matter.ts';
import { parseInstant } from '../src/parse-instant.ts';

/** A file costs linear time, however long it is: 1 MB takes at most six times as long as 256 KB. */

const read =
  (file: string): Work =>
  (text) => {
    try {
      return parseDefinition(text, { file });
    } catch (error) {
      return error;
    }
  };

const works: Readonly<Record<string, readonly [Work, readonly Pump[]]>> = {
  'a YAML file': [read('a.yaml'), ['[', '{a: ', '&a ', '"', '- - '].map((piece) => repeated(piece))],
  'a JSON file': [read('a.json'), [repeated('{"a":'), repeated('"a",', '[')]],
  'a Markdown file': [
    read('a.md'),
    [repeated('---\n'), repeated('a\n', '---\nname: a\n---\n'), repeated('--- ')],
  ],
  'front matter': [splitFrontMatter, [repeated('---\n'), repeated(' ', '---'), repeated('\n', '---\n')]],
  'a key': [(text) => adviceForUnknown([text]), [repeated('a'), repeated('max_steps')]],
  'an instant': [parseInstant, [repeated('1'), repeated('2027-01-31T')]],
};

test.each(Object.entries(works))('%s', async (_, [work, pumps]) => {
  expect(await fasterGrowth(work, pumps)).toEqual([]);
});
