import { bytesOf } from '../../../json.ts';
import { hashedText } from '../../../state/values/text-hash.ts';

/**
 * The mark of a saved value, or of the elements of a saved list: a digest, and the length in bytes of UTF-8. The
 * digest is a sum over the texts, each with its index, so its cost is that of what was added or removed. It finds changes;
 * it is no defence against attacks.
 */
export interface ContentMark {
  readonly digest: string;
  readonly bytes: number;
}

/** A digest is two words of 31 bits, each of which has 6 letters and digits. */
const WORD = 0x7fffffff;
const WORD_LETTERS = 6;

/** The mark of a list without elements. */
export const NO_TEXTS: ContentMark = Object.freeze({ digest: '0'.repeat(2 * WORD_LETTERS), bytes: 0 });

/** Returns the mark after texts were added, the first at this index. */
export function withTexts(mark: ContentMark, texts: readonly string[], from: number): ContentMark {
  return changedMark(mark, texts, from, 1);
}

/** Returns the mark after texts were removed, the first at this index. */
export function withoutTexts(mark: ContentMark, texts: readonly string[], from: number): ContentMark {
  return changedMark(mark, texts, from, -1);
}

/** Returns the mark of the text of a value. */
export function markOfValue(text: string): ContentMark {
  return withTexts(NO_TEXTS, [text], 0);
}

function changedMark(
  { digest, bytes }: ContentMark,
  texts: readonly string[],
  from: number,
  sign: 1 | -1,
): ContentMark {
  let high = parseInt(digest.slice(0, WORD_LETTERS), 36);
  let low = parseInt(digest.slice(WORD_LETTERS), 36);
  let length = bytes;
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] as string;
    const words = hashedText(text, from + index + 1);
    high = (high + sign * words.high) & WORD;
    low = (low + sign * words.low) & WORD;
    length += sign * (words.isAscii ? text.length : bytesOf(text));
  }
  return { digest: lettersOf(high) + lettersOf(low), bytes: length };
}

function lettersOf(word: number): string {
  return word.toString(36).padStart(WORD_LETTERS, '0');
}

/** Reads a mark in a head; `undefined` for a mark that this release does not know. */
export function readMark(digest: unknown, bytes: unknown): ContentMark | undefined {
  const isKnown = typeof digest === 'string' && /^[\da-z]{12}$/.test(digest);
  return isKnown && typeof bytes === 'number' && Number.isSafeInteger(bytes) ? { digest, bytes } : undefined;
}
