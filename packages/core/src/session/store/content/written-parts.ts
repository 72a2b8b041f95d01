import { bytesOf } from '../../../json.ts';
import { writeFinishedSteps } from '../../../state/execution/execution-document.ts';
import { MessageRefWriter } from '../../../state/messages/message-refs.ts';
import type { Messages } from '../../../state/messages/messages.ts';
import { List } from '../../../state/values/list.ts';
import { Metadata } from '../../../state/values/metadata.ts';
import type { AgentSession } from '../../session.ts';
import type { ContentMark } from './content-mark.ts';
import { listOfSection, OTHERS, STEPS } from './saved-head.ts';

/** A saved list: its elements in memory, and the mark of their texts. */
export interface WrittenList {
  readonly elements: List<unknown>;
  readonly mark: ContentMark;
}

/** The saved parts of a session, for the next save and the next read. */
export interface WrittenParts {
  readonly head: string;
  readonly refs: MessageRefWriter;
  readonly values: ReadonlyMap<string, ContentMark>;
  readonly lists: ReadonlyMap<string, WrittenList>;
  /** The lowest version of the format that can hold the closed steps. */
  readonly versionOfSteps: number;
}

/** The saved parts of each session that a store returned. */
const writtenParts = new WeakMap<AgentSession, WrittenParts>();

/** Returns the saved parts of a session that this process planned or restored; `undefined` for any other session. */
export function writtenPartsOf(session: AgentSession): WrittenParts | undefined {
  return writtenParts.get(session);
}

/** A session that this process planned or restored, with its saved parts. */
export interface WrittenSession {
  readonly session: AgentSession;
  readonly written: WrittenParts;
}

export function writtenSession(session: AgentSession | undefined): WrittenSession | undefined {
  const written = session && writtenParts.get(session);
  return written && { session, written };
}

export function noteWrittenParts(session: AgentSession, written: WrittenParts): void {
  writtenParts.set(session, written);
}

/**
 * Returns the size of a session that was planned or restored, in bytes of JSON; `undefined` for any other session.
 */
export function knownSize(session: AgentSession): number | undefined {
  const known = writtenParts.get(session);
  if (known === undefined) return undefined;
  let size = bytesOf(known.head);
  for (const { bytes } of known.values.values()) size += bytes;
  for (const { mark } of known.lists.values()) size += mark.bytes;
  return size;
}

/** Returns the lists of a session, by name. */
export function listsOf({ state }: AgentSession, others: Messages): Map<string, List<unknown>> {
  const lists = new Map<string, List<unknown>>();
  for (const { name, messages } of state.store.sections) lists.set(listOfSection(name), messages);
  const steps = state.execution?.stepExecutions;
  if (steps && !steps.isEmpty) lists.set(STEPS, steps);
  if (!others.isEmpty) lists.set(OTHERS, others);
  return lists;
}

/** Returns the values that are present, as objects in memory: a value that is the same object has not changed. */
export function valuesOf({ definition, budget, state }: AgentSession): Map<string, unknown> {
  const { llmConfig, systemPrompt, metadata, responseFormat } = state;
  const all = Object.entries({ definition, budget, llmConfig, systemPrompt, metadata, responseFormat });
  return new Map(all.filter(([, value]) => value !== undefined && value !== Metadata.empty));
}

export function textOfValue(value: unknown): string {
  return JSON.stringify(value instanceof Metadata ? value.values : value);
}

/** Returns the texts of the elements that a list of a saved session has from an index on. */
export function textsFrom({ session, written }: WrittenSession, name: string, from: number): string[] {
  const { lists, refs } = written;
  const list = lists.get(name)?.elements;
  if (list === undefined || list.length <= from) return [];
  const { execution, store } = session.state;
  if (name !== STEPS || !execution) return list.slice(from).map((element) => JSON.stringify(element));
  // Later saves share the index of `refs`, and it has the positions in their store.
  const ownRefs = MessageRefWriter.of(store, refs.otherMessages, List.empty());
  const steps = writeFinishedSteps(execution, ownRefs).slice(from);
  return steps.map((step) => JSON.stringify(step));
}
