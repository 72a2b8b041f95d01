import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { LineageCache, List, ListCache } from '../../state/values/list.ts';
import { executionIdOf, isTrace } from '../../state/messages/message-tags.ts';
import type { Message, Messages } from '../../state/messages/messages.ts';
import { repairedMessages } from './repair-messages.ts';

/**
 * What a model sees of a state, valid for a provider: see `messageCompiler`. The stored history is not changed.
 * `before` is what the compiler gave for the step before, to go on from; default the input of the last step.
 */
export type MessageCompiler = (state: AgentState, before?: Messages) => Messages;

/**
 * Chooses messages of a state; they need not be valid. `before` is for one that goes on from what it chose for the
 * step before, and may be a list that it did not choose. Every compiler is a selector too.
 */
export type MessageSelector = (state: AgentState, before?: Messages) => Iterable<Message>;

/**
 * Changes what was chosen: leaves messages out, shortens them, adds some. The result need not be valid. A changed
 * message is a new one: the old are shared and frozen.
 */
export type MessageTransform = (messages: Messages, state: AgentState) => Iterable<Message>;

/**
 * A compiler from a choice of messages and changes to it, in order. Whatever they come to is repaired, so that a
 * provider takes it, whatever was crashed, aborted, cut off or edited away:
 *
 * - A call without a result gets one that says so. A result counts only directly after its call; others are left out.
 * - A call whose id an earlier call has gets an id of its own, and so does its result. An answer that is there twice,
 *   by its id and content, is shown once.
 * - What a provider ran itself stays where it is, call and result. A call that it has not answered stays as long as a
 *   later answer may bring the result: until the next message of a user.
 * - Reasoning after which nothing is left of what it led to goes too, and so do answers and results with nothing in
 *   them. A transform that takes out reasoning must take out what it led to: some providers want both or neither.
 *
 * What is valid is not touched: the same messages in the same order, and the same list if all of it is. What only
 * one provider demands is left to the driver (how ids are written, system messages in between, empty texts), and what
 * is shown at all to the choice: the list may be empty, and may begin or end with an answer, which some refuse.
 *
 * Messages that are not frozen are checked and copied. A list that begins as that of the step before costs what was
 * added since, and the last answer: keep messages as the objects they are, and it stays so.
 *
 * The compiler throws what its parts throw, and HoldfastError `CONTEXT_INVALID` or `NOT_JSON` when they give something
 * that is not a message; `data.index` says which one.
 * @throws TypeError `ARGUMENT_INVALID` for a part that is not a function.
 * @example
 * const compiler = messageCompiler(conversationWithCurrentToolTrace(), (messages) => messages.slice(-50));
 * const loop = createAgentLoop({ driver, compiler });
 */
export function messageCompiler(
  select: MessageSelector,
  ...transforms: readonly MessageTransform[]
): MessageCompiler {
  for (const part of [select, ...transforms]) {
    if (typeof part === 'function') continue;
    throw invalidArgument(`A compiler is made of functions, found ${describeValue(part)}.`, TypeError);
  }
  /** What was selected, by what it was compiled to, where the two differ. */
  const selections = new WeakMap<Messages, Messages>();
  return function compileMessages(state, before = state.lastStep?.input) {
    const selected = requireMessageList(select(state, (before && selections.get(before)) ?? before));
    let messages = selected;
    for (const transform of transforms) messages = requireMessageList(transform(messages, state));
    const compiled = repairedMessages(messages, before);
    if (compiled !== selected) selections.set(compiled, selected);
    return compiled;
  };
}

function requireMessageList(messages: Iterable<Message> | null | undefined): Messages {
  if (typeof messages?.[Symbol.iterator] === 'function') return List.from(messages);
  const found = describeValue(messages);
  throw new HoldfastError('CONTEXT_INVALID', `A compiler must give a list of messages, found ${found}.`);
}

/**
 * The conversation, without the work of earlier executions that came to an answer: the answer is shown, the tool
 * calls and results that led to it are hidden. The work of the present execution is shown in full, and so is that of
 * one which ended without an answer: what it did is otherwise not said anywhere. The default.
 *
 * Costs as much as was added since the step before, and the last answer, however long the conversation is. The first step
 * of an execution costs what was added since that of the execution before, unless another conversation has grown from the
 * same messages since.
 */
export function conversationWithCurrentToolTrace(): MessageCompiler {
  return messageCompiler(selectConversation);
}

/** All messages of all sections, in the order in which the sections were first written; traces are shown. */
export function allSections(): MessageCompiler {
  return messageCompiler(({ store }, before) =>
    joinedSections(
      store.sections.map(({ messages }) => messages),
      before,
    ),
  );
}

/**
 * All messages of the named sections, in the order of the names; traces are shown. A section that does not exist is
 * empty: it may come into being later. A name that is there twice counts once, where it stands first.
 * @throws TypeError `ARGUMENT_INVALID` for names that are not an array of strings.
 */
export function selectedSections(names: readonly string[]): MessageCompiler {
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    throw invalidArgument(`Expected an array of section names, found ${describeValue(names)}.`, TypeError);
  }
  const chosen = [...new Set(names)];
  return messageCompiler(({ store }, before) =>
    joinedSections(
      chosen.map((name) => store.section(name)),
      before,
    ),
  );
}

/** What a list of sections was joined from, by the list. */
const joints = new ListCache<readonly Messages[]>();

/** One after the other. When only the last has grown since `before` was joined, this costs what it has grown by. */
function joinedSections(sections: readonly Messages[], before: Messages | undefined): Messages {
  const filled = sections.filter(({ isEmpty }) => !isEmpty);
  const [first = List.empty<Message>(), ...others] = filled;
  if (others.length === 0) return first;
  const [known, last] = [before && joints.get(before), filled.length - 1];
  const isKnown =
    known?.length === filled.length && known.every((list, at) => at === last || list === filled[at]);
  const added = isKnown ? filled[last]?.since(known[last] as Messages) : undefined;
  const joined =
    before && added ? before.concat(added) : others.reduce((list, next) => list.concat(next.slice()), first);
  joints.set(joined, filled);
  return joined;
}

/** What a selection of the conversation was made from. */
interface Origin {
  readonly source: Messages;
  readonly executionId: string | undefined;
}

/** By the selection. */
const origins = new ListCache<Origin>();

/** A selection and what it was made from. */
interface Selection extends Origin {
  readonly selected: Messages;
}

const NOTHING: Selection = { source: List.empty(), executionId: undefined, selected: List.empty() };

/** The selection of an execution that had added nothing yet: the next execution selects what has come since. */
interface FirstSelection extends Selection {
  /** Executions that have messages in the source. Taken over by the next beginning. */
  readonly executions: Set<string>;
}

const firstSelections = new LineageCache<FirstSelection>();

function selectConversation(state: AgentState, before: Messages | undefined): Messages {
  const { messages: source, executionId } = state;
  const origin = before && origins.get(before);
  const added = origin && addedToOrigin(state, origin);
  const selected =
    before && added
      ? extendSelection({ ...origin, selected: before }, source, added, executionId)
      : selectFromStart(source, executionId);
  origins.set(selected, { source, executionId });
  return selected;
}

/** The selection for the first step of an execution, or for any when the history was changed. */
function selectFromStart(source: Messages, executionId: string | undefined): Messages {
  const beginning = firstSelections.get(source);
  const since = beginning && addedSinceFirst(beginning, source, executionId);
  const [base, added] = beginning && since ? [beginning, since] : [NOTHING, source.slice()];
  const selected = extendSelection(base, source, added, executionId);
  if (!added.some((message) => executionIdOf(message) === executionId)) {
    const executions = addExecutionIds(added, beginning && since ? beginning.executions : new Set());
    firstSelections.set(source, { source, executionId, selected, executions });
  }
  return selected;
}

/** The executions, with those that added the messages. */
function addExecutionIds(messages: readonly Message[], executions: Set<string>): Set<string> {
  for (const message of messages) {
    const id = executionIdOf(message);
    if (id !== undefined) executions.add(id);
  }
  return executions;
}

/** What was added to a selected history, selected too. */
function extendSelection(
  base: Selection,
  source: Messages,
  added: readonly Message[],
  executionId: string | undefined,
): Messages {
  const visible = withoutFinishedWork(added, executionId);
  const isAllVisible = visible.length === added.length && base.selected === base.source;
  return isAllVisible ? source : base.selected.concat(visible);
}

/**
 * What was added since an execution began, by it and by the present one; `undefined` when the history has changed in
 * another way. Messages of earlier executions among it could hide others of theirs, and an earlier execution that goes on
 * shows its own.
 */
function addedSinceFirst(
  { source, executionId: earlier, executions }: FirstSelection,
  messages: Messages,
  executionId: string | undefined,
): readonly Message[] | undefined {
  if (executionId !== undefined && executions.has(executionId)) return undefined;
  const added = messages.since(source);
  return added?.every(isOfEither) ? added : undefined;

  function isOfEither(message: Message): boolean {
    const id = executionIdOf(message);
    return id === undefined ? message.role !== 'assistant' : id === earlier || id === executionId;
  }
}

/** What the execution has added since; `undefined` when the history has changed in another way. */
function addedToOrigin(
  { messages, executionId }: AgentState,
  origin: Origin,
): readonly Message[] | undefined {
  const added = origin.executionId === executionId ? messages.since(origin.source) : undefined;
  return added?.every((message) => isOwn(message, executionId)) ? added : undefined;
}

/** Did the execution add the message, or nobody in particular? */
function isOwn(message: Message, executionId: string | undefined): boolean {
  const origin = executionIdOf(message);
  return origin === undefined || origin === executionId;
}

function withoutFinishedWork(
  messages: readonly Message[],
  executionId: string | undefined,
): readonly Message[] {
  let answered: Set<string | undefined> | undefined;
  for (const message of messages) {
    if (message.role !== 'assistant' || isTrace(message)) continue;
    const id = executionIdOf(message);
    if (id !== executionId) (answered ??= new Set()).add(id);
  }
  if (answered === undefined) return messages;
  return messages.filter((message) => !isTrace(message) || !answered.has(executionIdOf(message)));
}
