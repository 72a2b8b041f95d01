const longestSlug = 48;
const signs: readonly (readonly [RegExp, string])[] = [
  [/(?<=[\d)])\s*\*\s*(?=[-\d(])/g, ' times '],
  [/(?<=[\d)])\s*\+\s*(?=[-\d(])/g, ' plus '],
  [/(?<=[\d)])\s*-\s*(?=[-\d(])/g, ' minus '],
  [/(?<=[\d)])\s*\/\s*(?=[-\d(])/g, ' over '],
  [/(?<=[\d)])\s*\^\s*(?=[-\d(])/g, ' to the '],
  [/%/g, ' percent '],
  [/=/g, ' is '],
];

/**
 * A file name made of a text: lower case Latin letters, digits and hyphens, at most 48 characters. Texts that
 * differ only in what had to be left out get different names by a checksum at the end.
 */
export function slugOf(text: string): string {
  const spelled = signs.reduce((rest, [sign, word]) => rest.replaceAll(sign, word), text);
  const words = spelled
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  const full = words?.join('-') ?? '';
  const slug = full
    .replaceAll(/[^a-z0-9-]/g, '')
    .split('-')
    .filter(Boolean)
    .join('-');
  if (slug !== '' && slug === full && slug.length <= longestSlug) return slug;
  const kept = slug.slice(0, longestSlug - 8).replace(/-[^-]*$/, '');
  return `${kept === '' ? 'note' : kept}-${checksum(text)}`;
}

/** FNV-1a, 32 bits, in at most 7 characters. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36);
}
