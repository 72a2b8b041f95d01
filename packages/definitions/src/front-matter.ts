/** The two parts of a Markdown file. */
export interface FrontMatter {
  /** The YAML, on the same lines as in the file. */
  readonly head: string;
  /** The text below the front matter, without white space around it. */
  readonly body: string;
}

const FENCE = /^---[ \t]*$/;

/**
 * Splits a text whose lines end in `\n`. The libraries for front matter return values without the text, but the location of
 * a value in the file needs the text.
 * @returns the missing fence for a text without front matter.
 */
export function splitFrontMatter(text: string): FrontMatter | 'no opening' | 'no closing' {
  const lines = text.split('\n');
  if (!FENCE.test(lines[0] ?? '')) return 'no opening';
  const end = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  if (end === -1) return 'no closing';
  const head = ['', ...lines.slice(1, end)].join('\n');
  return {
    head,
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}
