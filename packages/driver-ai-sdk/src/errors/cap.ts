/** The most characters of a text of others that an expression reads. */
const MAX_READ = 4_000;

/**
 * Returns the start of a text that others wrote, such as an error message of a provider. The word that the limit would cut
 * is left out: half of a key does not look like a key.
 */
export function capped(text: string): string {
  if (text.length <= MAX_READ) return text;
  let end = MAX_READ;
  while (end > 0 && KEY_CHARACTERS.has(text.charAt(end - 1))) end--;
  return text.slice(0, end).toWellFormed();
}

/** The characters of keys and of their encodings. */
const KEY_CHARACTERS: ReadonlySet<string> = new Set(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-.~*%',
);
