import { wordCount, type Sentence } from './sentence.ts';
import type { Habit } from './habits.ts';

/** A sentence to rewrite: where, and how. */
export interface Finding {
  readonly line: number;
  readonly message: string;
}

export interface Rules {
  readonly habits: readonly Habit[];
  /** The longest sentence, in words. Without it any length is accepted. */
  readonly maxWords?: number | undefined;
}

export function findingsIn(sentences: readonly Sentence[], { habits, maxWords }: Rules): readonly Finding[] {
  return sentences.flatMap((sentence) => [
    ...habits.flatMap((habit) => habitIn(sentence, habit)),
    ...tooLong(sentence, maxWords),
  ]);
}

function habitIn({ text, line, isTitle }: Sentence, { pattern, advice }: Habit): readonly Finding[] {
  const found = isTitle && pattern.source.startsWith('^') ? null : pattern.exec(text);
  return found ? [{ line, message: `"${found[0].trim()}" in "${shortened(text)}". Write: ${advice}.` }] : [];
}

function tooLong({ text, line }: Sentence, maxWords = Infinity): readonly Finding[] {
  const words = wordCount(text);
  if (words <= maxWords) return [];
  return [
    { line, message: `${words} words in "${shortened(text)}". Write sentences of at most ${maxWords}.` },
  ];
}

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);
