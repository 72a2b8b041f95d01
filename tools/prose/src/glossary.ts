import { fromMarkdown } from 'mdast-util-from-markdown';
import { visit } from 'unist-util-visit';
import type { Habit } from './habits.ts';

const SECTION = '## Words that are not used';

/** The words in the first column of the glossary's last table that are marked as code. The second column is the advice. */
export function unusedWords(glossary: string): readonly Habit[] {
  const section = glossary.slice(glossary.indexOf(SECTION));
  const rows = section.split('\n').filter((line) => /^\| (?!word|-)/.test(line));
  return rows.flatMap((row) => {
    const [, words = '', advice = ''] = row.split('|').map((cell) => cell.trim());
    return codesOf(words).map((word) => ({
      pattern: patternOf(word),
      advice: advice.replaceAll(/[*`]/g, ''),
    }));
  });
}

function codesOf(markdown: string): readonly string[] {
  const codes: string[] = [];
  visit(fromMarkdown(markdown), 'inlineCode', ({ value }) => void codes.push(value));
  return codes;
}

const patternOf = (word: string): RegExp => new RegExp(`\\b${word}\\b`, 'i');
