import { expect, test } from 'vitest';
import { fasterGrowth, repeated, type Work } from '../../../tools/config/vitest.growth.ts';
import { createOfflineModel } from '../src/offline-model.ts';
import { slugOf } from '../src/offline/slug.ts';

/** The functions that read texts of people and tools. Their time is linear. */

const model = createOfflineModel({ delayMs: 0 });
const pieces = [
  'a',
  ' ',
  '!',
  '"',
  '-',
  '1',
  '1 + ',
  '(',
  'send a to a and ',
  'send a with a ',
  'pay 1 to ',
  'note ',
  ', ',
  'what was my ',
  'where is ',
  'did you ',
  'how many ',
  'what i ',
  'remember ',
  'called ',
  'and then ',
];
const pumps = pieces.map((piece) => repeated(piece));

/** Asks the model after a tool returned a text. */
const asked: Work = async (text) => {
  const [call, output] = [
    { toolCallId: '1', toolName: 'notebook_read' },
    { type: 'text', value: text } as const,
  ];
  const { content } = await model.doGenerate({
    prompt: [
      { role: 'user', content: [{ type: 'text', text }] },
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
      { role: 'assistant', content: [{ type: 'text', text }] },
      { role: 'user', content: [{ type: 'text', text }] },
    ],
  });
  return content;
};

test('a question to the offline model', async () => {
  expect(await fasterGrowth(asked, pumps)).toEqual([]);
});

test('the name of a note', async () => {
  expect(await fasterGrowth(slugOf, pumps)).toEqual([]);
});
