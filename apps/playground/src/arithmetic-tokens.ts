/** The role of a sign or a word in an expression. */
export type Sign =
  | '+'
  | '-'
  | '*'
  | '/'
  | 'modulo'
  | '^'
  | 'percentOf'
  | 'percent'
  | 'squared'
  | 'cubed'
  | '('
  | ')';

/** A number, a sign, or something else, and where it stands in the text. */
export interface Token {
  /** `undefined` for a number, `'unknown'` for text that is not arithmetic. */
  readonly symbol: Sign | 'unknown' | undefined;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** Tried in this order at every position. Words are read like their signs. */
const lexemes: readonly (readonly [RegExp, Sign])[] = [
  [/\*\*|\^|(?:raised )?to the power of\b/iy, '^'],
  [/[*×·]|times\b|multiplied by\b|(?<=[\d)]\s*)x(?=\s*[-\d(.])/iy, '*'],
  [/[/÷]|divided by\b/iy, '/'],
  [/\+|plus\b/iy, '+'],
  [/[-−–]|minus\b/iy, '-'],
  [/(?:%|per ?cent\b)\s*of\b/iy, 'percentOf'],
  [/%(?=\s*[\d(.])|mod(?:ulo)?\b/iy, 'modulo'],
  [/%|per ?cent\b/iy, 'percent'],
  [/squared\b/iy, 'squared'],
  [/cubed\b/iy, 'cubed'],
  [/\(/y, '('],
  [/\)/y, ')'],
];
const numberPattern = /(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?/iy;
/** Dates, clock times, versions, words with digits: numbers stand in them, but nothing to work out. */
const proseOnlyPattern =
  /\d{4}-\d\d-\d\d|\d{1,2}\/\d{1,2}\/\d{4}|\d+:\d\d|\d+\.\d+\.\d+[.\d]*|\d+(?!e\d)\p{L}{2,}/iuy;
const wordPattern = /[\p{L}_][\p{L}\p{N}_]*|\S/uy;

/**
 * The tokens of a text. In prose, numbers that are no quantities (dates, clock times, versions) are unknown,
 * not numbers.
 */
export function tokenize(text: string, isProse: boolean): readonly Token[] {
  const tokens: Token[] = [];
  for (let start = 0; start < text.length;) {
    const token = readToken(text, start, isProse);
    if (token !== undefined) tokens.push(token);
    start = token?.end ?? start + 1;
  }
  return tokens;
}

function readToken(text: string, start: number, isProse: boolean): Token | undefined {
  if (/\s/.test(text.charAt(start))) return undefined;
  const ignored = isProse ? matchAt(proseOnlyPattern, text, start) : undefined;
  if (ignored !== undefined) return { symbol: 'unknown', number: 0, start, end: start + ignored.length };
  const digits = matchAt(numberPattern, text, start);
  if (digits !== undefined) {
    return {
      symbol: undefined,
      number: Number(digits.replaceAll(',', '')),
      start,
      end: start + digits.length,
    };
  }
  for (const [pattern, symbol] of lexemes) {
    const sign = matchAt(pattern, text, start);
    if (sign !== undefined) return { symbol, number: 0, start, end: start + sign.length };
  }
  const word = matchAt(wordPattern, text, start) ?? text.charAt(start);
  return { symbol: 'unknown', number: 0, start, end: start + word.length };
}

function matchAt(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0];
}
