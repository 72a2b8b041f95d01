import type { ArgumentCheck } from '../../arguments.ts';

/** A way to make a request shorter that a provider refused as too long. */
export type Reduction = 'summarize' | 'shortenResults';

export const REDUCTIONS: readonly Reduction[] = ['summarize', 'shortenResults'];

/** The check for the option `whenTooLong`. */
export const WHEN_TOO_LONG: ArgumentCheck = {
  expected: `an array of ${REDUCTIONS.map((name) => `"${name}"`).join(' and ')}, each once at most`,
  accepts: (value) =>
    Array.isArray(value) &&
    new Set(value).size === value.length &&
    value.every((name) => REDUCTIONS.includes(name)),
};

/** The longest part of a message that is searched. */
const SEARCHED = 2_000;
/** A smaller number in a message is no limit, but a code or a status. */
const LEAST = 2_048;
/**
 * How providers name the limit: "150000 tokens > 128000", "32768 maximum", "[1, 6000]", "maximum context length is 128000".
 */
const LIMITS: readonly RegExp[] = [
  />\s?(\d{4,9})(?!\d)/,
  /(?<!\d)(\d{4,9}) (?:tokens? )?maximum/,
  /\[\d, (\d{4,9})\]/,
  /(?:maximum|available|limit|less than|<=|exceed|context (?:length|window))[^\d.]{1,50}(\d{4,9})(?!\d)/i,
];

/** The number of tokens that an error message names as the limit. */
export function limitIn(message: string): number | undefined {
  const text = message.slice(0, SEARCHED).replaceAll(/(?<=\d)[,_](?=\d{3})/g, '');
  for (const pattern of LIMITS) {
    const found = Number(pattern.exec(text)?.[1]);
    if (found >= LEAST) return found;
  }
  return undefined;
}
