import { createHash, randomBytes } from 'node:crypto';
import type { SavePlan, SessionContent } from '@holdfast/core/store';
import { wholePlan } from '../log/plan-entries.ts';
import { toPayload } from '../table/payload.ts';

/**
 * The character before a reference that replaces a text. It cannot be confused with a text, because no JSON begins with
 * it.
 */
const MARK = '@';
const REFERENCE = /^[0-9a-f]{16}\.[0-9a-f]{64}$/u;

/** A large value that must be put into the blob store. */
export interface NewBlob {
  /** A random text, a dot, and the SHA-256 of the payload. */
  readonly reference: string;
  readonly payload: Uint8Array;
}

/** Content whose large texts are replaced by references. */
export interface Offloaded<T> {
  readonly content: T;
  /** The blobs that the blob store does not hold yet. */
  readonly blobs: readonly NewBlob[];
}

export function isReference(name: string): boolean {
  return REFERENCE.test(name);
}

/** Returns whether the SHA-256 of a payload is the one in the reference. */
export function hasHashOf(reference: string, payload: Uint8Array): boolean {
  return hashIn(reference) === hashOf(payload);
}

/** The reference in a replaced text; `undefined` for a text that is JSON. */
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
 * Replaces the large texts of a plan by references. Texts with equal bytes share a reference, and reuse a reference of
 * `inUse` if one has these bytes. Each text becomes one blob, so a compaction copies references and not blobs.
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

/** Returns the text, or the reference that replaces a large text. */
export async function offloadText(text: string, minBytes: number): Promise<Offloaded<string>> {
  if (!isLarge(text, minBytes)) return { content: text, blobs: [] };
  const payload = await toPayload(text);
  const reference = newReference(hashOf(payload));
  return { content: MARK + reference, blobs: [{ reference, payload }] };
}

/**
 * Replaces the references in a plan by their texts.
 * @param texts the texts by reference
 */
export function resolveReferences(plan: SavePlan, texts: ReadonlyMap<string, string>): SavePlan {
  return mapTexts(plan, (text) => texts.get(referenceIn(text) ?? '') ?? text);
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
 * Creates a reference that no other writer creates, even for the same bytes. So a writer that deletes its blob never
 * deletes the blob of another writer.
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
