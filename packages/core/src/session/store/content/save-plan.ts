import { compact, isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts';
import { List } from '../../../state/values/list.ts';
import { isGrownStore, MessageRefWriter } from '../../../state/messages/message-refs.ts';
import { writeAgentStateWith } from '../../../state/agent-state-document.ts';
import {
  versionOf,
  versionOfFinished,
  writeExecutionWith,
  writeFinishedSteps,
} from '../../../state/execution/execution-document.ts';
import type { Message, Messages } from '../../../state/messages/messages.ts';
import { Metadata } from '../../../state/values/metadata.ts';
import { AgentSession, writeSession } from '../../session.ts';
import {
  parsePart,
  unreadablePart,
  type ContentParts,
  type SessionContent,
  type SavePlan,
  type ListChange,
  fingerprint,
} from './session-content.ts';
import type { SessionInfo } from '../../session-info.ts';

/** The saved parts of a session, for the next save. */
interface Written {
  readonly head: string;
  readonly refs: MessageRefWriter;
  readonly lists: ReadonlyMap<string, List<unknown>>;
  /** The lowest version of the format that can hold the closed steps. */
  readonly versionOfSteps: number;
  /** The lengths of the values and lists, in UTF-16 code units of JSON; for a truncated list, an estimate. */
  readonly sizes: ReadonlyMap<string, number>;
}

/** The saved parts of each session that a store returned. */
const writtenParts = new WeakMap<AgentSession, Written>();

const STEPS = 'steps';
const OTHERS = 'otherMessages';
const MESSAGES = 'messages:';

/**
 * Returns the plan of a save. `session` is the object that the store will return, and `base` is the session as the
 * store returned it before. The cost grows with the added parts, not with the length of the session. Without a base, or
 * with a base that this process neither planned nor restored, the plan has the whole session.
 */
export function planSave(session: AgentSession, base?: AgentSession): SavePlan {
  const known = base && writtenParts.get(base);
  const isGrown =
    known !== undefined && base !== undefined && isGrownStore(base.state.store, session.state.store);
  const continues = isGrown && isSameExecution(base, session);
  const { store, execution } = session.state;
  const refs = isGrown ? known.refs.forGrownStore(store, continues) : new MessageRefWriter(store);
  const before = known?.lists ?? new Map<string, List<unknown>>();
  const keptCount = (name: string, list: List<unknown>): number => before.get(name)?.commonLength(list) ?? 0;

  const stepsKept = continues ? keptCount(STEPS, execution?.stepExecutions ?? List.empty()) : 0;
  const steps = execution ? writeFinishedSteps(execution, refs, stepsKept) : [];
  const skeleton = execution && writeExecutionWith(execution, refs, undefined);
  const versionOfSteps = Math.max(
    continues ? known.versionOfSteps : 1,
    execution ? versionOfFinished(execution, stepsKept) : 1,
  );
  const lists = listsOf(session, refs.otherMessages);
  const changes: ListChange[] = [];
  for (const [name, list] of lists) {
    const keep = name === STEPS ? stepsKept : name === OTHERS && !continues ? 0 : keptCount(name, list);
    if (keep === list.length && keep === (before.get(name)?.length ?? 0)) continue;
    const added = name === STEPS ? steps : list.slice(keep);
    changes.push({ name, keep, append: added.map((element) => JSON.stringify(element)) });
  }
  for (const [name, { isEmpty }] of before) {
    if (!isEmpty && !lists.has(name)) changes.push({ name, keep: 0, append: [] });
  }
  const plan: SavePlan = {
    isWhole: known === undefined,
    head: headOf(session, skeleton, { versionOfSteps, lists }),
    values: changedValues(known && base ? valuesOf(base) : new Map(), valuesOf(session)),
    lists: changes,
  };
  const { head } = plan;
  writtenParts.set(session, { head, refs, lists, versionOfSteps, sizes: sizesAfter(known, plan) });
  return plan;
}

/** True when the session was made from this base. */
export function isBase(
  base: AgentSession | undefined,
  { sessionId, revision }: AgentSession,
): base is AgentSession {
  return (
    base?.sessionId === sessionId &&
    base.revision.version === revision.version &&
    base.revision.incarnation === revision.incarnation
  );
}

/** A save that is planned once for all its attempts; `next` is the session that it returns. */
export interface PlannedSave {
  readonly next: AgentSession;
  readonly plan: SavePlan;
  readonly hash: string;
}

export function plannedSave(
  next: AgentSession,
  base: AgentSession | undefined,
  operationId: string | undefined,
): PlannedSave {
  const plan = planSave(next, base);
  return { next, plan, hash: operationId === undefined ? '' : fingerprint(plan) };
}

/**
 * Returns the plan that undoes a plan: applied to the content after the plan, it gives the content of the base.
 * `undefined` when this process neither planned nor restored the base. Its cost is that of what the plan replaced.
 */
export function planUndo(base: AgentSession, { values, lists }: SavePlan): SavePlan | undefined {
  const known = writtenParts.get(base);
  if (known === undefined) return undefined;
  const before = valuesOf(base);
  return {
    isWhole: false,
    head: known.head,
    values: new Map([...values.keys()].map((name) => [name, valueText(before.get(name))])),
    lists: lists.map(({ name, keep }) => ({ name, keep, append: textsFrom(base, known, name, keep) })),
  };
}

/** The texts of the elements that a list of the base had from an index on. */
function textsFrom(base: AgentSession, { lists, refs }: Written, name: string, from: number): string[] {
  const list = lists.get(name);
  if (list === undefined || list.length <= from) return [];
  const { execution, store } = base.state;
  if (name !== STEPS || !execution) return list.slice(from).map((element) => JSON.stringify(element));
  // Later saves share the index of `refs`, and it has the positions in their store.
  const ownRefs = MessageRefWriter.of(store, refs.otherMessages, List.empty());
  const steps = writeFinishedSteps(execution, ownRefs).slice(from);
  return steps.map((step) => JSON.stringify(step));
}

/**
 * Returns the size of a session that was planned or restored, in UTF-16 code units of JSON; `undefined` for any other
 * session.
 */
export function knownSize(session: AgentSession): number | undefined {
  const known = writtenParts.get(session);
  return known && [...known.sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Returns the lengths of the parts after a plan was applied. */
function sizesAfter(known: Written | undefined, { head, values, lists }: SavePlan): Map<string, number> {
  const sizes = new Map(known?.sizes).set('head', head.length);
  for (const [name, text] of values) sizes.set(`value ${name}`, text?.length ?? 0);
  for (const { name, keep, append } of lists) {
    const length = known?.lists.get(name)?.length ?? 0;
    const keptLength = keep === 0 ? 0 : ((sizes.get(`list ${name}`) ?? 0) * keep) / length;
    sizes.set(
      `list ${name}`,
      append.reduce((sum, text) => sum + text.length, Math.round(keptLength)),
    );
  }
  return sizes;
}

function isSameExecution({ state: { execution: before } }: AgentSession, { state }: AgentSession): boolean {
  const { execution } = state;
  if (before === undefined || execution?.executionId !== before.executionId) return false;
  return execution.stepExecutions.commonLength(before.stepExecutions) === before.stepExecutions.length;
}

function listsOf({ state }: AgentSession, others: Messages): Map<string, List<unknown>> {
  const lists = new Map<string, List<unknown>>();
  for (const { name, messages } of state.store.sections) lists.set(MESSAGES + name, messages);
  const steps = state.execution?.stepExecutions;
  if (steps && !steps.isEmpty) lists.set(STEPS, steps);
  if (!others.isEmpty) lists.set(OTHERS, others);
  return lists;
}

/** Returns the values that are present, as objects in memory: a value that is the same object has not changed. */
function valuesOf({ definition, budget, state }: AgentSession): Map<string, unknown> {
  const { llmConfig, systemPrompt, metadata, responseFormat } = state;
  const all = Object.entries({ definition, budget, llmConfig, systemPrompt, metadata, responseFormat });
  return new Map(all.filter(([, value]) => value !== undefined && value !== Metadata.empty));
}

function changedValues(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): Map<string, string | undefined> {
  const changed = new Map<string, string | undefined>();
  for (const [name, value] of after) {
    if (before.get(name) === value) continue;
    changed.set(name, valueText(value));
  }
  for (const name of before.keys()) if (!after.has(name)) changed.set(name, undefined);
  return changed;
}

function valueText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value instanceof Metadata ? value.values : value);
}

/** The members of the session document that the head omits. */
const SAID_BY_RECORD = Object.freeze({
  sessionId: undefined,
  parentId: undefined,
  owner: undefined,
  title: undefined,
  labels: undefined,
  budget: undefined,
  totals: undefined,
  status: undefined,
  createdAt: undefined,
  updatedAt: undefined,
  revision: undefined,
});

function headOf(
  session: AgentSession,
  execution: object | undefined,
  { versionOfSteps, lists }: Pick<Written, 'versionOfSteps' | 'lists'>,
): string {
  const { state: value } = session;
  const leastVersion = value.execution ? versionOf(value.execution, versionOfSteps) : 1;
  const state = writeAgentStateWith(value, leastVersion, { execution });
  // The record holds the facts that lists show. The store sets the revision and the time of the write: without them, a
  // retry of a save has the same head.
  const document = { ...writeSession(session, { state }), ...SAID_BY_RECORD };
  const values = [...valuesOf(session).keys()];
  const { version } = session;
  return JSON.stringify({
    version,
    document,
    values,
    lists: [...lists].map(([name, list]) => [name, list.length]),
  });
}

// Restoring a session

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
  const head = parsedHead(content.head);
  if (head.version !== info.version)
    throw unreadablePart('the head', `version ${info.version}`, head.version);
  const lists = readLists(head, content);
  const session = AgentSession.fromJSON(joinedDocument(head, lists, content, info, incarnation));
  if (isAsSaved(session, head.lists))
    remember(session, (lists.others ?? []) as unknown as readonly Message[], content);
  return session;
}

/** The lists of a saved session, by their content. */
interface SavedLists {
  readonly steps: readonly JsonValue[];
  readonly others: readonly JsonValue[] | undefined;
  readonly sections: readonly object[];
}

function readLists({ lists }: Head, content: SessionContent): SavedLists {
  const sections: object[] = [];
  let [steps, others]: [JsonValue[], JsonValue[] | undefined] = [[], undefined];
  for (const [name, length] of lists) {
    const list = readList(name, length, content);
    if (name === STEPS) steps = list;
    else if (name === OTHERS) others = list;
    else sections.push({ name: name.slice(MESSAGES.length), messages: list });
  }
  return { steps, others, sections };
}

function readList(name: string, length: number, content: SessionContent): JsonValue[] {
  const texts = content.lists.get(name) ?? [];
  if (texts.length !== length) throw unreadablePart(`the list "${name}"`, `${length} elements`, texts.length);
  return texts.map((text, index) => parsePart(text, `element ${index} of "${name}"`));
}

/** Returns the document of a session: the inverse of the division by `planSave`. */
function joinedDocument(
  { version, document, values }: Head,
  { steps, others, sections }: SavedLists,
  content: SessionContent,
  info: SessionInfo,
  incarnation: string,
): object {
  const { sessionId, parentId, status, createdAt, updatedAt } = info;
  const value = (name: string): JsonValue | undefined =>
    values.includes(name) ? parsePart(content.values.get(name), `the value "${name}"`) : undefined;
  const { execution, ...state } = document['state'] as JsonObject;
  const context = compact({
    systemPrompt: value('systemPrompt'),
    metadata: value('metadata'),
    responseFormat: value('responseFormat'),
    sections,
  });
  return compact({
    ...document,
    sessionId,
    parentId,
    ...(document['version'] !== 1 && sinceVersion2(info)),
    status,
    createdAt,
    updatedAt,
    revision: { incarnation, version },
    definition: value('definition'),
    budget: value('budget'),
    state: compact({
      ...state,
      llmConfig: value('llmConfig'),
      context,
      execution: execution && compact({ ...(execution as JsonObject), steps, otherMessages: others }),
    }),
  });
}

/** The facts that a document has since version 2. Without them, it is written as version 1. */
function sinceVersion2({ owner, title, labels, totals }: SessionInfo): object {
  return { owner, title, labels, totals };
}

/**
 * True when the session has the lists that were read. A repaired session has more, and its next save writes all of it.
 */
function isAsSaved({ state }: AgentSession, lists: Head['lists']): boolean {
  const lengths = new Map(lists);
  const steps = state.execution?.stepExecutions.length ?? 0;
  return (
    steps === (lengths.get(STEPS) ?? 0) &&
    state.store.sections.every(({ name, messages }) => messages.length === lengths.get(MESSAGES + name))
  );
}

function sizesOf({ head, values, lists }: SessionContent): Map<string, number> {
  const added = [...lists].map(([name, append]) => ({ name, keep: 0, append }));
  return sizesAfter(undefined, { isWhole: true, head, values, lists: added });
}

/**
 * Records the saved parts of a restored session. The messages in `others` are the objects in the session: the reader of
 * a document does not copy its parts.
 */
function remember(session: AgentSession, others: readonly Message[], content: SessionContent): void {
  const { store, execution } = session.state;
  const shown = execution?.stepExecutions.last?.step.input ?? List.empty<Message>();
  const refs = MessageRefWriter.of(store, List.from(others), shown);
  const lists = listsOf(session, refs.otherMessages);
  writtenParts.set(session, {
    head: content.head,
    refs,
    lists,
    versionOfSteps: execution ? versionOfFinished(execution) : 1,
    sizes: sizesOf(content),
  });
}

interface Head extends ContentParts {
  readonly version: number;
  readonly document: JsonObject;
}

/**
 * Returns the names of the parts that a saved session holds beside its head, for stores that read it part by part.
 * @throws StateFormatError for an unreadable head.
 */
export function contentParts(head: string): ContentParts {
  const { values, lists } = parsedHead(head);
  return { values, lists };
}

function parsedHead(text: string): Head {
  const head = parsePart(text, 'the head');
  if (!isJsonObject(head)) throw unreadablePart('the head', 'an object', head);
  const { document, values, lists } = head;
  const isHead = isJsonObject(document) && isJsonObject(document['state']) && Array.isArray(values);
  const isList = (entry: JsonValue): boolean =>
    Array.isArray(entry) && typeof entry[0] === 'string' && Number.isSafeInteger(entry[1]);
  if (!isHead || !Array.isArray(lists) || !lists.every(isList)) {
    throw unreadablePart('the head', 'a document, the names of values, and lists with their lengths', head);
  }
  return head as unknown as Head;
}
