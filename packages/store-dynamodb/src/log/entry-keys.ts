import { padNumber } from '../table/keys.ts';

/** A sort key after the log and before the inbox. */
export const LOG_END = 'F';

/** The prefix of the sort keys of an incarnation's log. */
export function logPrefix(incarnation: string): string {
  return `E#${incarnation}#`;
}

/** The prefix of the sort keys of a segment. All earlier segments sort before it. */
export function segmentPrefix(incarnation: string, segment: number): string {
  return `${logPrefix(incarnation)}${padNumber(segment, 6)}`;
}

/** The name of an entry: its segment, its position, a unique text, and its number of parts. */
export function entryName(segment: number, position: number, unique: string, parts: number): string {
  return `${padNumber(segment, 6)}#${padNumber(position, 6)}#${unique}#${parts}`;
}

/** The segment and the position in the name of an entry. */
export function entryPosition(name: string): [segment: number, position: number] {
  const [segment = '', position = ''] = name.split('#');
  return [Number(segment), Number(position)];
}

/** The incarnation in the sort key of an entry; `undefined` for another sort key. */
export function incarnationOfEntry(sk: string): string | undefined {
  return /^E#(.*)#\d{6}#\d{6}#[^#]+#\d+#\d{4}$/su.exec(sk)?.[1];
}
