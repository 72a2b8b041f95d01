/** Two ids of the largest size: 1,000 UTF-16 units, which take 3,000 bytes of UTF-8. They differ at the end. */
export const LONGEST_IDS = [`${'漢'.repeat(999)}字`, '漢'.repeat(1_000)] as const;

/** Ids that a database, a file system or a pattern could confuse. Each must name a session of its own. */
export const HOSTILE_IDS = [
  '{}:*?\n/',
  '../../etc/passwd',
  'file:x?mode=memory',
  "'; DROP TABLE sessions; --",
  '%_',
  ' ',
  ' a',
  'a',
  'A',
  'a\0',
  'a\0b',
  'a\0c',
  '\0',
  '\ufeffa',
  '\ufffd',
  '\u00e9',
  'e\u0301',
  '🦊',
  '\u{10ffff}',
  '__proto__',
  'constructor',
  'x'.repeat(256),
  'x'.repeat(1_000),
  `${'x'.repeat(999)}y`,
  '🦊'.repeat(500),
  ...LONGEST_IDS,
];
