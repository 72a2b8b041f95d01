import { createHash } from 'node:crypto';
import type { Instant } from '@holdfast/core';

/** Sorts before all other items of a session: a query reads it first, and what it names after it. */
export const HEADER = 'A';
/** Sorts after the log, and before the inbox. */
export const LOG_END = 'F';

/** The key of an item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** What a table says of itself: no session has this partition. */
export const META: ItemKey = { pk: 'M', sk: 'M' };

/** Longer ids are hashed: a partition key holds 2,048 bytes, and every item repeats it. */
const MAX_PLAIN_ID_BYTES = 512;
const PLAIN = 'S#';

/** The partition of a session. */
export function partitionOf(sessionId: string): string {
  return Buffer.byteLength(sessionId) <= MAX_PLAIN_ID_BYTES
    ? PLAIN + sessionId
    : `H#${sha256(sessionId).toString('hex')}`;
}

/** The session of a partition; `undefined` when only the hash of its id is known. */
export function sessionIdOf(partition: string): string | undefined {
  return partition.startsWith(PLAIN) ? partition.slice(PLAIN.length) : undefined;
}

/** How a partition's session is called in messages; a long id cannot be told from its hash. */
export function sessionIn(partition: string): string {
  const sessionId = sessionIdOf(partition);
  return sessionId === undefined
    ? `the session in the partition ${partition}`
    : `session ${JSON.stringify(sessionId)}`;
}

/** One division of the indexes into shards. Generations are numbered from 1. */
export interface Generation {
  readonly number: number;
  readonly shards: number;
}

/** The shard of a generation that the items of a partition are in: one takes 1,000 writes a second. */
export function shardOf(partition: string, generation: Generation): string {
  return shardName(generation, sha256(partition).readUInt32BE() % generation.shards);
}

/** All shards of a generation. */
export function shardsOf(generation: Generation): string[] {
  return Array.from({ length: generation.shards }, (_, shard) => shardName(generation, shard));
}

function shardName({ number }: Generation, shard: number): string {
  return `${number}.${shard}`;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const MAX_INSTANT = Number.MAX_SAFE_INTEGER;
const ID_LENGTH = 64;
const INSTANT_LENGTH = 17;
const POSITION_LENGTH = 12;

/** A text that sorts as the moment does, also before 1970. */
export function instantKey(at: Instant): string {
  const whole = Math.trunc(Math.max(-MAX_INSTANT, Math.min(MAX_INSTANT, at)));
  return String(BigInt(whole) + 2n ** 53n).padStart(INSTANT_LENGTH, '0');
}

/** The moment that such a text, or one that begins with it, stands for. */
export function momentOf(key: string): Instant {
  return Number(BigInt(key.slice(0, INSTANT_LENGTH)) - 2n ** 53n);
}

/** The place of a session in the order by a moment, then by id. Ids that begin alike may share it. */
export function orderKey(at: Instant, sessionId: string): string {
  return `${instantKey(at)}#${inAscii(sessionId).slice(0, ID_LENGTH)}`;
}

/** A text in ASCII that sorts as its code points do, whether compared by bytes or by UTF-16 units. */
function inAscii(text: string): string {
  return text.replaceAll(/[\u007f-\u{10ffff}]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `\u007f${byte.toString(16)}`).join(''),
  );
}

/** Where a segment begins among a session's items. */
export function segmentPrefix(incarnation: string, segment: number): string {
  return `${logPrefix(incarnation)}${padded(segment, 6)}`;
}

/** What the sort keys of an incarnation's log begin with. */
export function logPrefix(incarnation: string): string {
  return `E#${incarnation}#`;
}

/** What names one item of an inbox, and all that is kept of it. */
export interface ItemName {
  readonly position: number;
  /** The hash of the item's id. */
  readonly hash: string;
  /** No other item has it: random, or the reference of the item's blob. */
  readonly unique: string;
  /** How many rows hold the item. */
  readonly parts: number;
}

/** What the sort keys of an incarnation's inbox rows begin with. They sort by position. */
export function inboxPrefix(incarnation: string): string {
  return `I#${incarnation}#`;
}

/** What the sort keys of the rows of one position begin with. All keys of lower positions sort before it. */
export function positionPrefix(incarnation: string, position: number): string {
  return inboxPrefix(incarnation) + padded(position, POSITION_LENGTH);
}

/** The name of an item's rows, which follows the prefix of the inbox. */
export function rowName({ position, hash, unique, parts }: ItemName): string {
  return `${padded(position, POSITION_LENGTH)}#${hash}#${unique}#${parts}`;
}

/** What the sort keys of an incarnation's inbox markers begin with. */
export function markersPrefix(incarnation: string): string {
  return `J#${incarnation}#`;
}

/** What the sort keys of the markers of one item id begin with. */
export function markerPrefix(incarnation: string, hash: string): string {
  return `${markersPrefix(incarnation)}${hash}#`;
}

/** The sort key of the marker of an item, by which it is found by its id. */
export function markerKey(incarnation: string, { position, hash, unique, parts }: ItemName): string {
  return `${markerPrefix(incarnation, hash)}${padded(position, POSITION_LENGTH)}#${unique}#${parts}`;
}

/** Is it the marker of an item of an inbox? */
export function isMarker(sk: string): boolean {
  return sk.startsWith('J#');
}

const ROW = /^I#.*#(?<position>\d{12})#(?<hash>[^#]+)#(?<unique>[^#]+)#(?<parts>\d+)#\d{4}$/su;
const MARKER = /^J#(?<incarnation>.*)#(?<hash>[^#]+)#(?<position>\d{12})#(?<unique>[^#]+)#(?<parts>\d+)$/su;

/** The item that a row or a marker belongs to; `undefined` for any other key. */
export function itemNameOf(sk: string): ItemName | undefined {
  const { position, hash = '', unique = '', parts } = (ROW.exec(sk) ?? MARKER.exec(sk))?.groups ?? {};
  return position === undefined
    ? undefined
    : { position: Number(position), hash, unique, parts: Number(parts) };
}

/** The hash of an item's id, short enough for a key: 128 bits. */
export function itemHash(itemId: string): string {
  return sha256(itemId).subarray(0, 16).toString('base64url');
}

/** The note that an incarnation is to be swept away. */
export function ticketKey(incarnation: string): string {
  return `G#${incarnation}`;
}

/**
 * What the sort keys of an incarnation's notes about blobs begin with. One of its own is like a ticket; only stores that
 * reach the blobs heed it.
 */
export function blobPrefix(incarnation: string): string {
  return `B#${incarnation}#`;
}

/** Is it a note about blobs? */
export function isBlobNote(sk: string): boolean {
  return sk.startsWith('B#');
}

/** The key of a blob in its store: that of an incarnation of a session, and of the blob among its own. */
export function blobKey(partition: string, incarnation: string, ref: string): string {
  return `${sha256(JSON.stringify([partition, incarnation])).toString('hex')}/${ref}`;
}

/** The incarnation that an item other than a header belongs to. */
export function incarnationOf(sk: string): string {
  if (sk.startsWith('G#')) return sk.slice(2);
  if (isBlobNote(sk)) return sk.slice(2, sk.lastIndexOf('#'));
  if (isMarker(sk)) return MARKER.exec(sk)?.groups?.['incarnation'] ?? '';
  return /^E#(.*)#\d{6}#\d{6}#[^#]+#\d+#\d{4}$/su.exec(sk)?.[1] ?? '';
}

/** The name of a log entry: its place, what makes it unique, and how many parts it has. */
export function entryName(segment: number, position: number, id: string, parts: number): string {
  return `${padded(segment, 6)}#${padded(position, 6)}#${id}#${parts}`;
}

/** Their number has four digits in a sort key. */
const MAX_PARTS = 9_999;

/**
 * The sort keys of the parts of what is named; the count of parts is the last word of the name. None for a name that
 * this package does not give.
 */
export function partKeys(prefix: string, name: string): string[] {
  const count = Number(name.slice(name.lastIndexOf('#') + 1));
  if (!(Number.isInteger(count) && count <= MAX_PARTS)) return [];
  return Array.from({ length: count }, (_, index) => `${prefix}${name}#${padded(index, 4)}`);
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}
