import { isGrownStore, MessageRefWriter } from '../../../state/messages/message-refs.ts';
import { writeAgentStateWith } from '../../../state/agent-state-document.ts';
import {
  versionOf,
  versionOfFinished,
  writeExecutionWith,
  writeFinishedSteps,
} from '../../../state/execution/execution-document.ts';
import { List } from '../../../state/values/list.ts';
import { textHash } from '../../../state/values/text-hash.ts';
import { writeSession, type AgentSession } from '../../session.ts';
import { markOfValue, NO_TEXTS, withoutTexts, withTexts, type ContentMark } from './content-mark.ts';
import { OTHERS, STEPS, writeHead } from './saved-head.ts';
import type { ListChange, SavePlan } from './session-content.ts';
import {
  listsOf,
  noteWrittenParts,
  textOfValue,
  textsFrom,
  valuesOf,
  writtenSession,
  type WrittenList,
  type WrittenParts,
  type WrittenSession,
} from './written-parts.ts';

/**
 * Returns the plan of a save. `session` is the object that the store will return, and `base` is the session as the
 * store returned it before. The cost grows with the added parts, not with the length of the session. Without a base, or
 * with a base that this process neither planned nor restored, the plan has the whole session.
 */
export function planSave(session: AgentSession, base?: AgentSession): SavePlan {
  const before = writtenSession(base);
  const { store, execution } = session.state;
  const isGrown = before !== undefined && isGrownStore(before.session.state.store, store);
  const continues = isGrown && isSameExecution(before.session, session);
  const refs = isGrown ? before.written.refs.forGrownStore(store, continues) : new MessageRefWriter(store);
  const stepsKept = continues ? keptCount(before, STEPS, execution?.stepExecutions ?? List.empty()) : 0;
  const steps = execution ? writeFinishedSteps(execution, refs, stepsKept) : [];
  const skeleton = execution && writeExecutionWith(execution, refs, undefined);
  const versionOfSteps = Math.max(
    continues ? before.written.versionOfSteps : 1,
    execution ? versionOfFinished(execution, stepsKept) : 1,
  );
  const after = listsOf(session, refs.otherMessages);
  const changes = listChanges(before, after, (name, list) => {
    if (name === STEPS) return { keep: stepsKept, added: steps };
    const keep = name === OTHERS && !continues ? 0 : keptCount(before, name, list);
    return { keep, added: list.slice(keep) };
  });
  const values = changedValues(before, session);
  const marked = { values: valueMarks(before, values, session), lists: markedLists(before, after, changes) };
  const head = headOf(session, skeleton, { versionOfSteps, ...marked });
  noteWrittenParts(session, { head, refs, versionOfSteps, ...marked });
  return { isWhole: before === undefined, head, values, lists: [...changes.values()] };
}

/** Returns how many elements a list has kept from the start. */
function keptCount(before: WrittenSession | undefined, name: string, list: List<unknown>): number {
  return before?.written.lists.get(name)?.elements.commonLength(list) ?? 0;
}

/** Returns the changes of the lists, by name. `parts` returns what a list has kept, and the documents after it. */
function listChanges(
  before: WrittenSession | undefined,
  after: ReadonlyMap<string, List<unknown>>,
  parts: (name: string, list: List<unknown>) => { readonly keep: number; readonly added: readonly unknown[] },
): ReadonlyMap<string, ListChange> {
  const known = before?.written.lists ?? new Map<string, WrittenList>();
  const changes = new Map<string, ListChange>();
  for (const [name, list] of after) {
    const { keep, added } = parts(name, list);
    if (keep === list.length && keep === (known.get(name)?.elements.length ?? 0)) continue;
    changes.set(name, { name, keep, append: added.map((element) => JSON.stringify(element)) });
  }
  for (const [name, { elements }] of known) {
    if (!elements.isEmpty && !after.has(name)) changes.set(name, { name, keep: 0, append: [] });
  }
  return changes;
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

/**
 * Plans a save. Its hash differs for a save of other content: the head has the marks of all parts. It finds mistakes; it is
 * no defence against attacks.
 */
export function plannedSave(
  next: AgentSession,
  base: AgentSession | undefined,
  operationId: string | undefined,
): PlannedSave {
  const plan = planSave(next, base);
  return { next, plan, hash: operationId === undefined ? '' : textHash(plan.head) };
}

/**
 * Returns the plan that undoes a plan: applied to the content after the plan, it gives the content of the base.
 * `undefined` when this process neither planned nor restored the base. Its cost is that of what the plan replaced.
 */
export function planUndo(base: AgentSession, { values, lists }: SavePlan): SavePlan | undefined {
  const before = writtenSession(base);
  if (before === undefined) return undefined;
  const known = valuesOf(base);
  const textOf = (value: unknown): string | undefined =>
    value === undefined ? undefined : textOfValue(value);
  return {
    isWhole: false,
    head: before.written.head,
    values: new Map([...values.keys()].map((name) => [name, textOf(known.get(name))])),
    lists: lists.map(({ name, keep }) => ({ name, keep, append: textsFrom(before, name, keep) })),
  };
}

function isSameExecution({ state: { execution: before } }: AgentSession, { state }: AgentSession): boolean {
  const { execution } = state;
  if (before === undefined || execution?.executionId !== before.executionId) return false;
  return execution.stepExecutions.commonLength(before.stepExecutions) === before.stepExecutions.length;
}

function changedValues(
  before: WrittenSession | undefined,
  session: AgentSession,
): ReadonlyMap<string, string | undefined> {
  const [known, after] = [before ? valuesOf(before.session) : new Map<string, unknown>(), valuesOf(session)];
  const changed = new Map<string, string | undefined>();
  for (const [name, value] of after) if (known.get(name) !== value) changed.set(name, textOfValue(value));
  for (const name of known.keys()) if (!after.has(name)) changed.set(name, undefined);
  return changed;
}

function valueMarks(
  before: WrittenSession | undefined,
  changed: ReadonlyMap<string, string | undefined>,
  session: AgentSession,
): ReadonlyMap<string, ContentMark> {
  const known = before?.written.values;
  if (known && changed.size === 0) return known;
  const marks = new Map<string, ContentMark>();
  for (const name of valuesOf(session).keys()) {
    const text = changed.get(name);
    marks.set(name, text === undefined ? (known?.get(name) ?? NO_TEXTS) : markOfValue(text));
  }
  return marks;
}

function markedLists(
  before: WrittenSession | undefined,
  after: ReadonlyMap<string, List<unknown>>,
  changes: ReadonlyMap<string, ListChange>,
): ReadonlyMap<string, WrittenList> {
  const marked = new Map<string, WrittenList>();
  for (const [name, elements] of after) {
    const change = changes.get(name);
    const known = before?.written.lists.get(name)?.mark ?? NO_TEXTS;
    const mark = change ? withTexts(markOfKept(before, change), change.append, change.keep) : known;
    marked.set(name, { elements, mark });
  }
  return marked;
}

/** Returns the mark of the elements that stay in a list. Its cost is that of the elements that a change removes. */
function markOfKept(before: WrittenSession | undefined, { name, keep }: ListChange): ContentMark {
  const list = before?.written.lists.get(name);
  if (before === undefined || list === undefined || keep === 0) return NO_TEXTS;
  if (keep === list.elements.length) return list.mark;
  return withoutTexts(list.mark, textsFrom(before, name, keep), keep);
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
  { versionOfSteps, values, lists }: Pick<WrittenParts, 'versionOfSteps' | 'values' | 'lists'>,
): string {
  const { state: value } = session;
  const leastVersion = value.execution ? versionOf(value.execution, versionOfSteps) : 1;
  const state = writeAgentStateWith(value, leastVersion, { execution });
  // The record holds the facts that lists show. The store sets the revision and the time of the write: without them, a
  // retry of a save has the same head.
  const document = { ...writeSession(session, { state }), ...SAID_BY_RECORD };
  return writeHead(session.version, document, values, lists);
}
