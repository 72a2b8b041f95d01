import type { Item } from '../table/item.ts';
import { padNumber, sha256 } from '../table/keys.ts';

/** The name of an inbox item. The sort keys of its rows and its marker contain it. */
export interface ItemName {
  readonly position: number;
  /** The hash of the item's id. */
  readonly hash: string;
  /** A random text, or the reference of the item's blob. It is different for each item. */
  readonly unique: string;
  /** The number of the item's rows. */
  readonly parts: number;
}

const POSITION_LENGTH = 12;

/** A hash of an item's id. It has 128 bits, so that it is short enough for a key. */
export function itemHash(itemId: string): string {
  return sha256(itemId).subarray(0, 16).toString('base64url');
}

/** The prefix of the sort keys of an incarnation's inbox rows. They sort by position. */
export function rowsPrefix(incarnation: string): string {
  return `I#${incarnation}#`;
}

/** The prefix of the sort keys of the rows of one position. The rows of all lower positions sort before it. */
export function positionPrefix(incarnation: string, position: number): string {
  return rowsPrefix(incarnation) + padNumber(position, POSITION_LENGTH);
}

/** The name of an item in the sort keys of its rows, after `rowsPrefix`. */
export function rowName({ position, hash, unique, parts }: ItemName): string {
  return `${padNumber(position, POSITION_LENGTH)}#${hash}#${unique}#${parts}`;
}

/** The prefix of the sort keys of an incarnation's markers. */
export function markersPrefix(incarnation: string): string {
  return `J#${incarnation}#`;
}

/** The prefix of the sort keys of the markers of one item id. */
export function markerPrefix(incarnation: string, hash: string): string {
  return `${markersPrefix(incarnation)}${hash}#`;
}

/** The sort key of an item's marker. The inbox queries markers to find an item by its id. */
export function markerKey(incarnation: string, { position, hash, unique, parts }: ItemName): string {
  return `${markerPrefix(incarnation, hash)}${padNumber(position, POSITION_LENGTH)}#${unique}#${parts}`;
}

export function isMarker(sk: string): boolean {
  return sk.startsWith('J#');
}

const ROW = /^I#.*#(?<position>\d{12})#(?<hash>[^#]+)#(?<unique>[^#]+)#(?<parts>\d+)#\d{4}$/su;
const MARKER = /^J#(?<incarnation>.*)#(?<hash>[^#]+)#(?<position>\d{12})#(?<unique>[^#]+)#(?<parts>\d+)$/su;
const NO_NAME: ItemName = { position: -1, hash: '', unique: '', parts: 0 };

/** The name of the item of a row or a marker; `undefined` for another sort key. */
export function itemNameIn(sk: string): ItemName | undefined {
  const { position, hash = '', unique = '', parts } = (ROW.exec(sk) ?? MARKER.exec(sk))?.groups ?? {};
  return position === undefined
    ? undefined
    : { position: Number(position), hash, unique, parts: Number(parts) };
}

/** The name of the item of a row or a marker; `NO_NAME` for another item. */
export function itemNameOf({ sk }: Item): ItemName {
  return itemNameIn(sk?.S ?? '') ?? NO_NAME;
}

/** The incarnation of a marker; `undefined` for another sort key. */
export function incarnationOfMarker(sk: string): string | undefined {
  return MARKER.exec(sk)?.groups?.['incarnation'];
}
