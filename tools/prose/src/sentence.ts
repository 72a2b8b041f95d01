/** A sentence that people read, and where it begins. Inline code in it is `Code`. */
export interface Sentence {
  readonly text: string;
  readonly line: number;
  readonly isTitle: boolean;
}

/** A passage of text and the line of each of its characters. */
export interface Passage {
  readonly text: string;
  readonly lines: readonly number[];
  readonly isTitle: boolean;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** A newline in a passage ends a sentence. */
export function sentencesOf({ text, lines, isTitle }: Passage): readonly Sentence[] {
  return [...segmenter.segment(text)].flatMap(({ segment, index }) => {
    const begin = index + segment.search(/\S|$/);
    const sentence = segment.trim();
    return sentence ? [{ text: sentence, line: lines[begin] ?? 1, isTitle }] : [];
  });
}

export const wordCount = (text: string): number => text.match(/\S*[\p{L}\d]\S*/gu)?.length ?? 0;
