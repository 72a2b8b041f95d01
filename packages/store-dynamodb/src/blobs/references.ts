import { createHash, randomBytes } from 'node:crypto';
import { applySavePlan } from '@holdfast/core/store';
import type { SessionContent, SavePlan } from '@holdfast/core/store';
import { wholePlan } from '../log/plan-entries.ts';
import { toPayload } from '../table/payload.ts';

/** The character before a reference that replaces a text. All texts are JSON, and no JSON begins with it. */
const MARK = '@';
const REFERENCE = /^[0-9a-f]{16}\.[0-9a-f]{64}$/u;

/** A large value for the blob store. */
export interface NewBlob {
  /** A random text, and the SHA-256 of the payload. */
  readonly reference: string;
  readonly payload: Uint8Array;
}

/** Content whose large texts are replaced by references. */
export interface Offloaded<T> {
  readonly content: T;
  /** The blobs that are not stored yet. */
  readonly blobs: readonly NewBlob[];
}

export function isReference(name: string): boolean {
  return REFERENCE.test(name);
}

/** Whether a payload has the hash of a reference. */
export function hasHashOf(reference: string, payload: Uint8Array): boolean {
  return hashIn(reference) === hashOf(payload);
}

/** The reference that a text is; `undefined` for JSON. */
export function referenceIn(text: string): string | undefined {
  return text.startsWith(MARK) ? text.slice(MARK.length) : undefined;
}

export function referencesInPlan(plan: SavePlan): Set<string> {
  return new Set(textsIn(plan).flatMap((text) => referenceIn(text) ?? []));
}

export function referencesInSession(content: SessionContent): Set<string> {
  return referencesInPlan(wholePlan(content));
}

/**
 * A plan whose large texts are references. Equal bytes share a reference, also one of `inUse`. Each text has its own
 * blob, so that a compaction copies references.
 */
export async function offloadPlan(
  plan: SavePlan,
  minBytes: number,
  inUse: Iterable<string> = [],
): Promise<Offloaded<SavePlan>> {
  const byHash = new Map([...inUse].map((reference) => [hashIn(reference), reference]));
  const byText = new Map<string, string>();
  const blobs: NewBlob[] = [];
  for (const text of new Set(textsIn(plan).filter((each) => isLarge(each, minBytes)))) {
    const payload = await toPayload(text);
    const hash = hashOf(payload);
    const reference = byHash.get(hash) ?? newReference(hash);
    if (!byHash.has(hash)) blobs.push({ reference, payload });
    byHash.set(hash, reference);
    byText.set(text, MARK + reference);
  }
  const content = byText.size === 0 ? plan : mapTexts(plan, (text) => byText.get(text) ?? text);
  return { content, blobs };
}

/** A text, or the reference that replaces it. */
export async function offloadText(text: string, minBytes: number): Promise<Offloaded<string>> {
  if (!isLarge(text, minBytes)) return { content: text, blobs: [] };
  const payload = await toPayload(text);
  const reference = newReference(hashOf(payload));
  return { content: MARK + reference, blobs: [{ reference, payload }] };
}

/** A session with texts in the place of references. @param texts by reference */
export function resolveReferences(
  content: SessionContent,
  texts: ReadonlyMap<string, string>,
): SessionContent {
  const resolve = (text: string): string => texts.get(referenceIn(text) ?? '') ?? text;
  return applySavePlan(undefined, mapTexts(wholePlan(content), resolve));
}

function isLarge(text: string, minBytes: number): boolean {
  return text.length * 3 >= minBytes && Buffer.byteLength(text) >= minBytes;
}

function textsIn({ head, values, lists }: SavePlan): string[] {
  const present = [...values.values()].filter((text) => text !== undefined);
  return [head, ...present, ...lists.flatMap(({ append }) => append)];
}

function mapTexts(plan: SavePlan, change: (text: string) => string): SavePlan {
  const { head, values, lists } = plan;
  return {
    ...plan,
    head: change(head),
    values: new Map([...values].map(([name, text]) => [name, text === undefined ? text : change(text)])),
    lists: lists.map((list) => ({ ...list, append: list.append.map(change) })),
  };
}

/**
 * A reference that no other writer creates, even for the same bytes: so a writer that deletes its blob deletes no
 * other.
 */
function newReference(hash: string): string {
  return `${randomBytes(8).toString('hex')}.${hash}`;
}

function hashIn(reference: string): string {
  return reference.slice(reference.indexOf('.') + 1);
}

function hashOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('hex');
}
