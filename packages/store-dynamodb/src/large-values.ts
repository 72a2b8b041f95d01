import { createHash, randomBytes } from 'node:crypto';
import { carriedOut } from '@holdfast/core/store';
import type { SavedSession, SavePlan } from '@holdfast/core/store';
import { toPayload } from './payload.ts';
import { wholePlan } from './plan-entries.ts';

/** Stands before a reference in the place of a text. All texts are JSON, and none begins so. */
const MARK = '@';
const REFERENCE = /^[0-9a-f]{16}\.[0-9a-f]{64}$/u;

/** A large value that is to be kept outside of the table. */
export interface NewBlob {
  /** What makes it unique, and the SHA-256 of the payload. */
  readonly ref: string;
  readonly payload: Uint8Array;
}

/** Something whose large values have become references. */
export interface Offloaded<T> {
  readonly content: T;
  /** Those that are not kept yet. */
  readonly blobs: readonly NewBlob[];
}

export function isReference(name: string): boolean {
  return REFERENCE.test(name);
}

/** Is it what the reference was made of? */
export function isOf(ref: string, payload: Uint8Array): boolean {
  return hashIn(ref) === hashOf(payload);
}

/** What a text refers to. */
export function referenceIn(text: string): string | undefined {
  return text.startsWith(MARK) ? text.slice(MARK.length) : undefined;
}

/** What texts refer to. */
export function referencesIn(texts: Iterable<string>): Set<string> {
  return new Set([...texts].flatMap((text) => referenceIn(text) ?? []));
}

/** What a session that is kept refers to. */
export function referencesOf(saved: SavedSession): Set<string> {
  return referencesIn(textsIn(wholePlan(saved)));
}

/**
 * A plan whose large texts are references; to a blob that is in use already, if it is the same. Each value by itself, so
 * that a log which is written anew takes its references over.
 */
export async function offloadedPlan(
  plan: SavePlan,
  fromBytes: number,
  inUse: Iterable<string> = [],
): Promise<Offloaded<SavePlan>> {
  const refs = new Map([...inUse].map((ref) => [hashIn(ref), ref]));
  const references = new Map<string, string>();
  const blobs: NewBlob[] = [];
  for (const text of new Set(textsIn(plan).filter((each) => isLarge(each, fromBytes)))) {
    const payload = await toPayload(text);
    const hash = hashOf(payload);
    const ref = refs.get(hash) ?? newReference(hash);
    if (!refs.has(hash)) blobs.push({ ref, payload });
    refs.set(hash, ref);
    references.set(text, MARK + ref);
  }
  const content = references.size === 0 ? plan : withTexts(plan, (text) => references.get(text) ?? text);
  return { content, blobs };
}

/** A text, or a reference to it. */
export async function offloadedText(text: string, fromBytes: number): Promise<Offloaded<string>> {
  if (!isLarge(text, fromBytes)) return { content: text, blobs: [] };
  const payload = await toPayload(text);
  const ref = newReference(hashOf(payload));
  return { content: MARK + ref, blobs: [{ ref, payload }] };
}

/** What is kept of a session, with the texts that it refers to in their places. */
export function filled(saved: SavedSession, texts: ReadonlyMap<string, string>): SavedSession {
  const fill = (text: string): string => texts.get(referenceIn(text) ?? '') ?? text;
  return carriedOut(undefined, withTexts(wholePlan(saved), fill));
}

function isLarge(text: string, fromBytes: number): boolean {
  return text.length * 3 >= fromBytes && Buffer.byteLength(text) >= fromBytes;
}

/** The texts of a plan. */
export function textsIn({ head, values, lists }: SavePlan): string[] {
  const present = [...values.values()].filter((text) => text !== undefined);
  return [head, ...present, ...lists.flatMap(({ append }) => append)];
}

function withTexts(plan: SavePlan, change: (text: string) => string): SavePlan {
  const { head, values, lists } = plan;
  return {
    ...plan,
    head: change(head),
    values: new Map([...values].map(([name, text]) => [name, text === undefined ? text : change(text)])),
    lists: lists.map((list) => ({ ...list, append: list.append.map(change) })),
  };
}

/** Nobody else makes the same one, of the same bytes either: so who takes his blob away takes nobody else's. */
function newReference(hash: string): string {
  return `${randomBytes(8).toString('hex')}.${hash}`;
}

function hashIn(ref: string): string {
  return ref.slice(ref.indexOf('.') + 1);
}

function hashOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('hex');
}
