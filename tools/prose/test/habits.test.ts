import { expect, test } from 'vitest';
import { findingsIn } from '../src/check.ts';
import { unusedWords } from '../src/glossary.ts';
import { habits } from '../src/habits.ts';
import { sentencesOfMarkdown } from '../src/markdown.ts';

const found = (text: string, rules: Parameters<typeof findingsIn>[1] = { habits }) =>
  findingsIn(sentencesOfMarkdown(text), rules);

test.each([
  ['What was compiled is repaired.', 'What does a worker do? What can go wrong'],
  ['What to do next is its choice.', 'What to do: wait for the worker.'],
  ['Who claims it works on it.', 'Who claims the session?'],
  ['One of a session that is claimed.', 'One commit does one thing.'],
  ['The agent names tools that there are not.', 'There is no index of tools.'],
  ['Null when there is none.', 'None of the stores is open.'],
  ['A schema that cannot be.', 'A record that cannot be read.'],
  ['There is no process that knows it.', 'There is no second request.'],
  ['A state that is not one.', 'A state is one value.'],
  ['The tool is to be called.', 'The tool is called.'],
  ['The cost, such as it is.', 'A cost such as the price of a token.'],
  ['It may be had from npm.', 'The package is available.'],
])('finds the construction in "%s", and accepts "%s"', (habit, plain) => {
  expect(found(habit)).toHaveLength(1);
  expect(found(plain)).toEqual([]);
});

test('the words that the glossary marks as code are found in any case, and its second column is the advice', () => {
  const glossary =
    '## Words that are not used\n\n| word | use |\n|---|---|\n| left, `parked`, `swaps` | *suspended* |\n';
  const [finding] = found('Left alone.\n\nA run is\nParked.', { habits: unusedWords(glossary) });
  expect(finding).toEqual({ line: 3, message: '"Parked" in "A run is Parked.". Write: suspended.' });
  expect(found('It swaps them.', { habits: unusedWords(glossary) })).toHaveLength(1);
});

test('a sentence has at most as many words as the rule allows', () => {
  const rules = { habits: [], maxWords: 3 };
  expect(found('One two three. One `a b c` three.', rules)).toEqual([]);
  expect(found('One two three - four.', rules)).toHaveLength(1);
});
