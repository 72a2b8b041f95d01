import { expect, test } from 'vitest';
import { fasterGrowth, repeated } from '../../../tools/config/vitest.growth.ts';
import { errorFields, lineLog } from '../src/serve/log.ts';

/** A line of the log costs linear time, whatever text an error has. */
test.each(['text', 'json'] as const)('a line of the log as %s', async (format) => {
  const log = lineLog({ level: 'info', format, write: () => undefined });
  const work = (text: string): void => log('error', 'It failed.', errorFields(new Error(text)));
  expect(
    await fasterGrowth(
      work,
      ['a', ' ', '\n', '"'].map((piece) => repeated(piece)),
    ),
  ).toEqual([]);
});
