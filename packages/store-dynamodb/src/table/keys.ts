import { createHash } from 'node:crypto';
import type { Instant } from '@holdfast/core';

/** The key of an item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** Identifies one incarnation of a session. */
export interface IncarnationKey {
  readonly pk: string;
  readonly incarnation: string;
}

/** The sort key of a header. It sorts before all other items of a session, so that a query reads the header first. */
export const HEADER = 'A';

/** The key of the item that describes the table. No session has this partition. */
export const META: ItemKey = { pk: 'M', sk: 'M' };

/** Longer ids are hashed, because a partition key has at most 2,048 bytes and every item repeats it. */
const MAX_PLAIN_ID_BYTES = 512;
const PLAIN = 'S#';

/** The partition of a session. */
export function partitionOf(sessionId: string): string {
  return Buffer.byteLength(sessionId) <= MAX_PLAIN_ID_BYTES
    ? PLAIN + sessionId
    : `H#${sha256(sessionId).toString('hex')}`;
}

/** Longer owners are hashed, because the header and the entries of two indexes repeat the key of the owner. */
const MAX_PLAIN_OWNER_BYTES = 64;

/** The key of an owner in the indexes. It is the same for owners whose hashes are equal. */
export function ownerKey(owner: string): string {
  return owner.isWellFormed() && Buffer.byteLength(owner) <= MAX_PLAIN_OWNER_BYTES
    ? `O#${owner}`
    : `P#${sha256(owner).toString('base64url')}`;
}

/** The session id of a partition; `undefined` for a hashed id. */
function plainIdOf(partition: string): string | undefined {
  return partition.startsWith(PLAIN) ? partition.slice(PLAIN.length) : undefined;
}

/** The attributes of a header that name its session. */
interface HeaderKeys {
  readonly pk?: { readonly S?: string | undefined };
  readonly id?: { readonly S?: string | undefined };
}

/** The session id of a header item, whose attribute `id` has an id that the partition has as a hash. */
export function sessionIdOf({ pk, id }: HeaderKeys): string {
  const partition = pk?.S ?? '';
  return plainIdOf(partition) ?? id?.S ?? partition;
}

/** The attribute `id` of a header; `undefined` when the partition has the id. */
export function hashedIdOf(sessionId: string): string | undefined {
  return plainIdOf(partitionOf(sessionId)) === undefined ? sessionId : undefined;
}

const MAX_INSTANT = Number.MAX_SAFE_INTEGER;
const ID_LENGTH = 64;
const INSTANT_LENGTH = 17;

/** A text that sorts as the instant does, also before 1970. */
export function instantKey(at: Instant): string {
  const whole = Math.trunc(Math.max(-MAX_INSTANT, Math.min(MAX_INSTANT, at)));
  return String(BigInt(whole) + 2n ** 53n).padStart(INSTANT_LENGTH, '0');
}

/** The instant of a key that begins with an `instantKey`. */
export function instantOf(key: string): Instant {
  return Number(BigInt(key.slice(0, INSTANT_LENGTH)) - 2n ** 53n);
}

/** A text that sorts by an instant, then by the session id. Long ids with the same beginning can have the same text. */
export function orderKey(at: Instant, sessionId: string): string {
  return `${instantKey(at)}#${inAscii(sessionId).slice(0, ID_LENGTH)}`;
}

/** An ASCII text that sorts by code points, both by bytes and by UTF-16 code units. */
function inAscii(text: string): string {
  return text.replaceAll(/[\u007f-\u{10ffff}]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `\u007f${byte.toString(16)}`).join(''),
  );
}

/** A number with leading zeros, so that it sorts as a text. */
export function padNumber(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
