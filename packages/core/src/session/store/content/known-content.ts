import type { AgentSession } from '../../session.ts';
import type { ContentMark } from './content-mark.ts';
import { executionIdOf, OTHERS, sectionOfList, STEPS, type SavedHead } from './saved-head.ts';
import type { SessionContent, SavePlan } from './session-content.ts';
import { writtenPartsOf } from './written-parts.ts';

/** The content of a session that a reader has, by the marks of its parts. */
export interface KnownContent {
  readonly executionId: string | undefined;
  readonly values: ReadonlyMap<string, ContentMark>;
  readonly lists: ReadonlyMap<string, { readonly length: number; readonly mark: ContentMark }>;
}

/** Elements of a list, from one index to the one before `to`. */
export interface MissingElements {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The parts of a content that a reader does not know. */
export interface MissingParts {
  readonly values: readonly string[];
  readonly lists: readonly MissingElements[];
}

/**
 * The parts of a content that were read: the head, and the missing values and elements. A list keeps the elements that
 * the reader knows.
 */
export type ReadContent = Pick<SavePlan, 'head' | 'values' | 'lists'>;

/** Returns what a caller knows that has a session; `undefined` for one that this process neither planned nor restored. */
export function knownContentOf(session: AgentSession): KnownContent | undefined {
  const written = writtenPartsOf(session);
  if (written === undefined) return undefined;
  const lists = Array.from(
    written.lists,
    ([name, { elements, mark }]) => [name, { length: elements.length, mark }] as const,
  );
  return {
    executionId: session.state.execution?.executionId,
    values: written.values,
    lists: new Map(lists),
  };
}

/**
 * Returns the parts that a reader must read. A list that has become longer has mostly grown, so only its end is missing; the
 * mark of what was read then shows an edit. Steps refer to messages by their index: they are known only with all messages
 * that the reader knows.
 */
export function missingIn(head: SavedHead, known: KnownContent | undefined): MissingParts {
  const isContinued =
    known !== undefined && known.executionId === executionIdOf(head) && hasMessagesOf(known, head);
  const lists: MissingElements[] = [];
  for (const [name, { length }] of head.lists) {
    const isOfExecution = name === STEPS || name === OTHERS;
    const from = isOfExecution && !isContinued ? 0 : knownLength(name, head, known);
    // A read of an empty list finds elements that should not be there.
    if (from < length || from !== known?.lists.get(name)?.length) lists.push({ name, from, to: length });
  }
  const changed = [...head.values].filter(
    ([name, mark]) => mark === undefined || known?.values.get(name)?.digest !== mark.digest,
  );
  return { values: changed.map(([name]) => name), lists };
}

/** True when no list of messages, as far as its length and mark tell, has lost a message that the reader knows. */
function hasMessagesOf(known: KnownContent, head: SavedHead): boolean {
  for (const [name, { length }] of known.lists) {
    const hasMessages = name === OTHERS || sectionOfList(name) !== undefined;
    if (hasMessages && knownLength(name, head, known) < length) return false;
  }
  return true;
}

/** Returns how many elements of a list the reader knows, as far as its length and mark tell. */
function knownLength(name: string, head: SavedHead, known: KnownContent | undefined): number {
  const [saved, before] = [head.lists.get(name), known?.lists.get(name)];
  if (saved?.mark === undefined || before === undefined || saved.length < before.length) return 0;
  return saved.length === before.length && saved.mark.digest !== before.mark.digest ? 0 : before.length;
}

/** Returns these parts of a content. */
export function partsOf(content: SessionContent, { values, lists }: MissingParts): ReadContent {
  const texts = values.map((name) => [name, content.values.get(name)] as const);
  return {
    head: content.head,
    values: new Map(texts.filter(([, text]) => text !== undefined)),
    lists: lists.map(({ name, from }) => {
      const append = content.lists.get(name)?.slice(from) ?? [];
      return { name, keep: from, append };
    }),
  };
}

/** Returns a content as one of which nothing was known. */
export function wholeContent({ head, values, lists }: SessionContent): ReadContent {
  return { head, values, lists: Array.from(lists, ([name, append]) => ({ name, keep: 0, append })) };
}
