import { compact, type JsonObject, type JsonValue } from '../../../json.ts';
import { versionOfFinished } from '../../../state/execution/execution-document.ts';
import { isGrownStore, MessageRefWriter } from '../../../state/messages/message-refs.ts';
import type { Message, Messages } from '../../../state/messages/messages.ts';
import { GrownList, KnownValue } from '../../../state/values/known-part.ts';
import { List } from '../../../state/values/list.ts';
import { AgentSession } from '../../session.ts';
import type { SessionInfo } from '../../session-info.ts';
import { markOfValue, NO_TEXTS, withTexts, type ContentMark } from './content-mark.ts';
import { wholeContent, type ReadContent } from './known-content.ts';
import { listOfSection, OTHERS, readHead, sectionOfList, STEPS, type SavedHead } from './saved-head.ts';
import { parsePart, unreadablePart, type ListChange, type SessionContent } from './session-content.ts';
import {
  listsOf,
  noteWrittenParts,
  valuesOf,
  writtenSession,
  type WrittenParts,
  type WrittenSession,
} from './written-parts.ts';

/** The facts about a session in its record. */
export interface RecordedFacts {
  readonly info: SessionInfo;
  readonly incarnation: string;
}

/** The source of a restored session: the parts that were read, and a session that has the others. */
interface Source {
  readonly head: SavedHead;
  readonly headText: string;
  readonly values: ReadContent['values'];
  readonly changes: ReadonlyMap<string, ListChange>;
  /** A session with the parts that were not read. */
  readonly base: WrittenSession | undefined;
}

/**
 * Returns the session of a stored content, with the facts in its record. A later plan with this session as its base
 * costs only the added parts.
 * @throws StateFormatError when a part is missing or invalid; `STATE_VERSION` when a newer release wrote it.
 */
export function restoreSession(
  content: SessionContent,
  info: SessionInfo,
  incarnation: string,
): AgentSession {
  return restoredFrom(sourceOf(wholeContent(content), undefined), { info, incarnation });
}

/**
 * Returns the session of the parts that were read, at their cost: all other parts are those of `base`. `undefined` when the
 * base has other parts than the store: then all must be read. Throws as `restoreSession` does.
 */
export function restoreWithBase(
  content: ReadContent,
  facts: RecordedFacts,
  base: AgentSession | undefined,
): AgentSession | undefined {
  const source = sourceOf(content, base);
  return source.base && !isContinued(source, source.base.written) ? undefined : restoredFrom(source, facts);
}

function sourceOf({ head: headText, values, lists }: ReadContent, session: AgentSession | undefined): Source {
  const head = readHead(headText);
  const changes = new Map(lists.map((change) => [change.name, change]));
  const isAll =
    [...head.values.keys()].every((name) => values.has(name)) &&
    [...head.lists].every(([name, { length }]) => length === 0 || changes.get(name)?.keep === 0);
  return { head, headText, values, changes, base: isAll ? undefined : writtenSession(session) };
}

/** True when the parts of the base, with those that were read, have the marks in the head. */
function isContinued({ head, values, changes }: Source, written: WrittenParts): boolean {
  const keptLength = (name: string): number =>
    changes.get(name)?.keep ?? written.lists.get(name)?.elements.length ?? 0;
  for (const [name, mark] of head.values)
    if (!values.has(name) && !isSameMark(written.values.get(name), mark)) return false;
  for (const [name, { length, mark }] of head.lists) {
    const [keep, { append = [] } = {}] = [keptLength(name), changes.get(name)];
    if (keep + append.length !== length) return false;
    const known = keep === 0 ? undefined : written.lists.get(name);
    if (keep > 0 && known?.elements.length !== keep) return false;
    if (known && !isSameMark(withTexts(known.mark, append, keep), mark)) return false;
  }
  if (keptLength(STEPS) + keptLength(OTHERS) === 0) return true;
  // Steps refer to the messages of the base: all of them must be the same.
  return [...written.lists].every(
    ([name, { elements }]) =>
      name === STEPS || (head.lists.has(name) && keptLength(name) === elements.length),
  );
}

function isSameMark(left: ContentMark | undefined, right: ContentMark | undefined): boolean {
  return left !== undefined && left.digest === right?.digest && left.bytes === right.bytes;
}

function restoredFrom(source: Source, facts: RecordedFacts): AgentSession {
  const { version, lists } = source.head;
  const expected = facts.info.version;
  if (version !== expected) throw unreadablePart('the head', `version ${expected}`, version);
  const documents = new Map(
    Array.from(lists, ([name, { length }]) => [name, listDocument(name, length, source)]),
  );
  const session = AgentSession.fromJSON(joinedDocument(source, documents, facts));
  if (isAsSaved(session, lists)) remember(session, source, documents.get(OTHERS));
  return session;
}

/** A list in the document of a session: its elements as JSON, or after those of the base. */
type ListDocument = readonly JsonValue[] | GrownList<unknown>;

function listDocument(name: string, length: number, { changes, base }: Source): ListDocument {
  const known = base?.written.lists.get(name)?.elements ?? List.empty();
  const { keep = known.length, append = [] } = changes.get(name) ?? {};
  if (keep + append.length !== length)
    throw unreadablePart(`the list "${name}"`, `${length} elements`, keep + append.length);
  const added = append.map((text, index) => parsePart(text, `element ${keep + index} of "${name}"`));
  return keep === 0 ? added : new GrownList(known, added);
}

/** Returns the document of a session: the inverse of the division by `planSave`. */
function joinedDocument(
  source: Source,
  lists: ReadonlyMap<string, ListDocument>,
  { info, incarnation }: RecordedFacts,
): object {
  const { version, document } = source.head;
  const { sessionId, parentId, status, createdAt, updatedAt } = info;
  const { execution, ...state } = document['state'] as JsonObject;
  const { definition, budget, llmConfig, ...context } = valueDocuments(source);
  const [steps = [], otherMessages] = [lists.get(STEPS), lists.get(OTHERS)];
  return compact({
    ...document,
    sessionId,
    parentId,
    ...(document['version'] !== 1 && sinceVersion2(info)),
    status,
    createdAt,
    updatedAt,
    revision: { incarnation, version },
    definition,
    budget,
    state: compact({
      ...state,
      llmConfig,
      context: compact({ ...context, sections: sectionDocuments(lists) }),
      execution: execution && compact({ ...(execution as JsonObject), steps, otherMessages }),
    }),
  });
}

/** Returns the documents of the values. Those that were not read are the values of the base. */
function valueDocuments({ head, values, base }: Source): Readonly<Record<string, unknown>> {
  const known = base && valuesOf(base.session);
  const documents: Record<string, unknown> = {};
  for (const name of VALUES) {
    if (!head.values.has(name)) continue;
    const value = values.has(name) ? undefined : known?.get(name);
    documents[name] =
      value === undefined ? parsePart(values.get(name), `the value "${name}"`) : knownDocument(value);
  }
  return documents;
}

const VALUES = ['definition', 'budget', 'llmConfig', 'systemPrompt', 'metadata', 'responseFormat'] as const;

function knownDocument(value: unknown): unknown {
  return typeof value === 'string' ? value : new KnownValue(value);
}

function sectionDocuments(lists: ReadonlyMap<string, ListDocument>): readonly object[] {
  return [...lists].flatMap(([list, messages]) => {
    const name = sectionOfList(list);
    return name === undefined ? [] : [{ name, messages }];
  });
}

/** The facts that a document has since version 2. Without them, it is written as version 1. */
function sinceVersion2({ owner, title, labels, totals }: SessionInfo): object {
  return { owner, title, labels, totals };
}

/**
 * True when the session has the lists that were read. A repaired session has more, and its next save writes all of it.
 */
function isAsSaved({ state }: AgentSession, lists: SavedHead['lists']): boolean {
  const lengthOf = (name: string): number | undefined => lists.get(name)?.length;
  const steps = state.execution?.stepExecutions.length ?? 0;
  return (
    steps === (lengthOf(STEPS) ?? 0) &&
    state.store.sections.every(({ name, messages }) => messages.length === lengthOf(listOfSection(name)))
  );
}

/**
 * Records the saved parts of a restored session. Those of its base are shared. The messages in `others` are the objects in
 * the session: the reader of a document does not copy its parts.
 */
function remember(session: AgentSession, source: Source, others: ListDocument = []): void {
  const { head, headText, values, changes } = source;
  const { known, added } = GrownList.of<Message>(others);
  const refs = refsOf(session, known.concat(added as readonly Message[]), source.base);
  const lists = Array.from(listsOf(session, refs.otherMessages), ([name, elements]) => {
    const mark = head.lists.get(name)?.mark ?? withTexts(NO_TEXTS, changes.get(name)?.append ?? [], 0);
    return [name, { elements, mark }] as const;
  });
  const marks = Array.from(
    head.values,
    ([name, mark]) => [name, mark ?? markOfValue(values.get(name) ?? '')] as const,
  );
  noteWrittenParts(session, {
    head: headText,
    refs,
    values: new Map(marks),
    lists: new Map(lists),
    versionOfSteps: versionOfSteps(session, source.base?.written),
  });
}

function refsOf(session: AgentSession, others: Messages, base: WrittenSession | undefined): MessageRefWriter {
  const { store, execution } = session.state;
  const shown = execution?.stepExecutions.last?.step.input ?? List.empty<Message>();
  if (base && isGrownStore(base.session.state.store, store)) {
    const { refs } = base.written;
    const keepsOthers = others.commonLength(refs.otherMessages) === refs.otherMessages.length;
    const grown = MessageRefWriter.of(store, others, shown, refs.forGrownStore(store, keepsOthers));
    // Another session that has grown from the base may have moved a position that the writers share.
    if (grown.otherMessages.length === others.length) return grown;
  }
  return MessageRefWriter.of(store, others, shown);
}

function versionOfSteps({ state: { execution } }: AgentSession, written: WrittenParts | undefined): number {
  if (execution === undefined) return 1;
  const before = written?.lists.get(STEPS)?.elements ?? List.empty();
  const isGrown =
    execution.stepExecutions.commonLength(before as typeof execution.stepExecutions) === before.length;
  const [known, from] = written && isGrown ? [written.versionOfSteps, before.length] : [1, 0];
  return Math.max(known, versionOfFinished(execution, from));
}
