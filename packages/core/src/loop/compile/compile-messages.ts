import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { LineageCache, List, ListCache } from '../../state/values/list.ts';
import { executionIdOf as taggedExecutionOf, isTrace } from '../../state/messages/message-tags.ts';
import type { Message, Messages } from '../../state/messages/messages.ts';
import { repairedMessages } from './repair-messages.ts';

/**
 * Returns the messages that a model sees of a state, valid for a provider: see `messageCompiler`. The state does not
 * change. `before` is the result for the step before, from which the compiler can continue; default the input of the
 * last step.
 */
export type MessageCompiler = (state: AgentState, before?: Messages) => Messages;

/**
 * Selects messages of a state; the selection need not be valid. `before` is the selection for the step before, from
 * which a selector can continue; it may also be a list that the selector did not create. Every compiler is also a
 * selector.
 */
export type MessageSelector = (state: AgentState, before?: Messages) => Iterable<Message>;

/**
 * Changes selected messages: omits, shortens or adds some. The result need not be valid. A changed message is a new
 * object, because the old messages are shared and frozen.
 */
export type MessageTransform = (messages: Messages, state: AgentState) => Iterable<Message>;

/**
 * Creates a compiler from a selector and transforms, which run in order. The compiler repairs their result so that a
 * provider accepts it after crashes, aborts, truncation and edits:
 *
 * - A call without a result gets a result that states this. A result is valid only directly after its call; other
 *   results are omitted.
 * - A call with the id of an earlier call gets a new id, and so does its result. A repeated response, with the same id
 *   and content, is shown once.
 * - A call that the provider ran itself stays in its position, with its result. Such a call without a result stays as
 *   long as a later response may contain the result: until the next message of a user.
 * - Reasoning is omitted when everything that it led to is omitted, and so are responses and results without content. A
 *   transform that omits reasoning must omit what it led to, because some providers require both or neither.
 *
 * Valid messages do not change: they stay the same objects in the same order, and a valid list stays the same list. The
 * driver handles the demands of one provider (the form of ids, system messages in between, empty texts). The selector
 * determines the extent: the list may be empty, and may begin or end with a response, which some providers refuse.
 *
 * Messages that are not frozen are checked and copied. For a list with the same beginning as in the step before, the
 * compiler processes only the added messages and the last response. Keep messages as the same objects to benefit from
 * this.
 *
 * The compiler throws the errors of its parts, and HoldfastError `CONTEXT_INVALID` or `NOT_JSON` when they return an
 * invalid message; `data.index` is its position.
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
    throw invalidArgument(
      `The parts of a compiler must be functions, found ${describeValue(part)}.`,
      TypeError,
    );
  }
  /** The selection of each compiled list that differs from its selection. */
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
  throw new HoldfastError('CONTEXT_INVALID', `A compiler must return a list of messages, found ${found}.`);
}

/**
 * Selects the conversation without the traces of earlier executions that have a final response: their final response is
 * shown, and the tool calls and results that led to it are hidden. The traces of the current execution are shown, and
 * so are those of an execution without a final response, because no other message describes its work. This is the
 * default compiler.
 *
 * The cost of a step depends on the messages added since the step before and on the last response, not on the length of
 * the conversation. The cost of the first step of an execution depends on the messages added since the execution
 * before, unless another conversation has continued from the same messages.
 */
export function conversationWithCurrentToolTrace(): MessageCompiler {
  return messageCompiler(selectConversation);
}

/** Selects all messages of all sections, in the order in which the sections were first written; traces are shown. */
export function allSections(): MessageCompiler {
  return messageCompiler(({ store }, before) =>
    joinedSections(
      store.sections.map(({ messages }) => messages),
      before,
    ),
  );
}

/**
 * Selects all messages of the named sections, in the order of the names; traces are shown. A section that does not
 * exist yet is empty. A repeated name counts once, at its first position.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not an array of strings.
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

/** The sections from which a list was joined, by the list. */
const joints = new ListCache<readonly Messages[]>();

/**
 * Joins the sections in order. When only the last section has grown since `before` was joined, only its growth is
 * processed.
 */
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

/** The source of a selection of the conversation. */
interface Origin {
  readonly source: Messages;
  readonly executionId: string | undefined;
}

/** The origins, by the selection. */
const origins = new ListCache<Origin>();

/** A selection and its source. */
interface Selection extends Origin {
  readonly selected: Messages;
}

const NOTHING: Selection = { source: List.empty(), executionId: undefined, selected: List.empty() };

/** The selection of an execution that had added no message yet; the next execution adds the later messages to it. */
interface FirstSelection extends Selection {
  /** The executions that have messages in the source. The next first selection continues to use this set. */
  readonly executions: Set<string>;
}

/** The id of the execution whose step added the message. The tag of a user message selects nothing. */
function executionIdOf(message: Message): string | undefined {
  return message.role === 'user' ? undefined : taggedExecutionOf(message);
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

/** The selection for the first step of an execution, or for any step after a change of the history. */
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

/** Adds the ids of the executions that added the messages. */
function addExecutionIds(messages: readonly Message[], executions: Set<string>): Set<string> {
  for (const message of messages) {
    const id = executionIdOf(message);
    if (id !== undefined) executions.add(id);
  }
  return executions;
}

/** Extends a selection by added messages. */
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
 * The messages that the first selection's execution and the current one have added since; `undefined` after any other
 * change of the history. Messages of earlier executions could hide others of the same execution, and a resumed earlier
 * execution shows its own traces.
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

/** The messages that the execution has added since; `undefined` after any other change of the history. */
function addedToOrigin(
  { messages, executionId }: AgentState,
  origin: Origin,
): readonly Message[] | undefined {
  const added = origin.executionId === executionId ? messages.since(origin.source) : undefined;
  return added?.every((message) => isOwn(message, executionId)) ? added : undefined;
}

/** True when the message belongs to this execution, or to no execution. */
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
