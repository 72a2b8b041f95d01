/** The defects that only the code of a driver can have. */
export const fetchDefects = [
  'decodes each chunk by itself',
  'parses each chunk by itself',
  'takes the end of a stream for its finish',
  'ignores errors in a stream',
  'ignores the index of calls',
  'returns open calls',
  'never streams',
  'leaves its connection open',
  'sends invalid arguments again',
  'reads the status only',
  'asks for no usage in streams',
] as const;

export type FetchDefect = (typeof fetchDefects)[number];
