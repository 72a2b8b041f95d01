import {
  readCount,
  readNonEmpty,
  readShape,
  readString,
  readTrue,
  shapeOf,
  type DocumentReader,
  type Members,
  type Read,
  type Shape,
} from '../../document.ts';
import { isSameJson } from '../../json.ts';
import { listReader } from '../values/known-part.ts';
import { List } from '../values/list.ts';
import { MessageStore } from './message-store.ts';
import { readMessage, type Message, type Messages } from './messages.ts';
import { NOTHING } from '../values/frozen-array.ts';

/**
 * References to messages by their position in the message store, so that the document of n steps has size O(n). A range
 * without a section refers to `otherMessages` of the document itself, which hold messages that the store does not have.
 */
export interface MessageRange {
  readonly section?: string;
  readonly from: number;
  readonly to: number;
}

type MutableRange = { -readonly [K in keyof MessageRange]: MessageRange[K] };

/** A list of messages by reference. `continues` means that the messages of the step before come first. */
export interface MessageView {
  readonly continues?: true;
  readonly ranges?: readonly MessageRange[];
}

interface Position {
  readonly section: string | undefined;
  readonly index: number;
}

/**
 * The known positions of messages, shared by successive writers. An entry is valid only if the message is still at its
 * position.
 */
interface Index {
  readonly positions: Map<Message, Position>;
  /** The messages that the store does not have, by their ids. */
  readonly others: Map<string, readonly { message: Message; position: Position }[]>;
}

/** Writes messages as references, and collects the messages that the store does not have in `otherMessages`. */
export class MessageRefWriter {
  /** The messages that the store does not have. */
  otherMessages: Messages = List.empty();
  private readonly store: MessageStore;
  private readonly index: Index;
  /** The ranges of the last view, with the views that it continued. */
  private lastView: MutableRange[] = [];
  /** The last view that continued no other. The next such view mostly begins with the same messages. */
  private first: { readonly messages: Messages; readonly ranges: readonly MessageRange[] } | undefined;

  constructor(store: MessageStore, index: Index = { positions: new Map(), others: new Map() }) {
    this.store = store;
    this.index = index;
    if (index.positions.size === 0) this.indexFrom(MessageStore.empty);
  }

  /**
   * Returns the writer of a document that was read: it knows the messages of the document. `grown` is the writer for the
   * store, if it knows the first messages already.
   */
  static of(
    store: MessageStore,
    otherMessages: Messages,
    shown: Messages,
    grown?: MessageRefWriter,
  ): MessageRefWriter {
    const writer = grown ?? new MessageRefWriter(store);
    for (const message of otherMessages.slice(writer.otherMessages.length)) writer.addOther(message);
    writer.view(shown, undefined);
    return writer;
  }

  /**
   * Returns a writer for a store that has grown from this one, at the cost of the added messages. Without `keepsOthers`
   * it begins a new document.
   */
  forGrownStore(store: MessageStore, keepsOthers: boolean): MessageRefWriter {
    const writer = new MessageRefWriter(store, this.index);
    writer.indexFrom(this.store);
    writer.first = this.first;
    if (keepsOthers) {
      writer.otherMessages = this.otherMessages;
      writer.lastView = this.lastView.map((range) => ({ ...range }));
    }
    return writer;
  }

  private indexFrom(known: MessageStore): void {
    for (const { name, messages } of this.store.sections) {
      let index = known.section(name).length;
      for (const message of messages.slice(index))
        this.index.positions.set(message, { section: name, index: index++ });
    }
  }

  /** Writes a part whose messages the next view does not continue. */
  writeDetached<T>(write: () => T): T {
    const shown = this.lastView.map((range) => ({ ...range }));
    const written = write();
    this.lastView = shown;
    return written;
  }

  /** Writes a view of messages. The view continues the last one if it begins with its messages. */
  view(messages: Messages, previous: Messages | undefined): MessageView {
    const isFirst = previous === undefined || previous.isEmpty;
    const known = isFirst ? undefined : messages.since(previous);
    const added = known ? this.locate(known) : this.locateAll(messages);
    const rest = known || isFirst ? added : rangesAfter(this.lastView, added);
    const ranges = rest ?? added;
    if (rest === undefined || isFirst) this.lastView = [];
    for (const range of ranges) addRange(this.lastView, range);
    if (isFirst || rest === undefined) return ranges.length === 0 ? {} : { ranges };
    return ranges.length === 0 ? { continues: true } : { continues: true, ranges };
  }

  /** Returns the ranges of messages; `undefined` for no messages. */
  ranges(messages: readonly Message[]): readonly MessageRange[] | undefined {
    return messages.length === 0 ? undefined : this.locate(messages);
  }

  /** Returns the ranges of a whole view. Messages that `first` also has get the same ranges. */
  private locateAll(messages: Messages): MessageRange[] {
    const { first } = this;
    const common = first ? messages.commonLength(first.messages) : 0;
    const known = first && common > 0 ? rangesUpTo(first.ranges, common) : [];
    const ranges = known ? this.locate(messages.slice(common), known) : this.locate(messages.slice());
    this.first = { messages, ranges: ranges.map((range) => ({ ...range })) };
    return ranges;
  }

  private locate(messages: readonly Message[], ranges: MutableRange[] = []): MessageRange[] {
    let last = ranges.at(-1);
    for (const message of messages) {
      const { section, index } = this.knownPosition(message) ?? this.positionAmongOthers(message);
      if (last !== undefined && last.section === section && last.to === index) {
        last.to++;
        continue;
      }
      last = section === undefined ? { from: index, to: index + 1 } : { section, from: index, to: index + 1 };
      ranges.push(last);
    }
    return ranges;
  }

  private knownPosition(message: Message): Position | undefined {
    const position = this.index.positions.get(message);
    if (position === undefined) return undefined;
    const { section, index } = position;
    const there = section === undefined ? this.otherMessages : this.store.section(section);
    return there.at(index) === message ? position : undefined;
  }

  /** A message compiler can create an equal message for each step: such a message is stored once. */
  private positionAmongOthers(message: Message): Position {
    const alike = this.index.others
      .get(message.id)
      ?.find(
        (other) =>
          this.otherMessages.at(other.position.index) === other.message && isSameJson(other.message, message),
      );
    if (alike !== undefined) return alike.position;
    return this.addOther(message);
  }

  private addOther(message: Message): Position {
    const { positions, others } = this.index;
    const position = { section: undefined, index: this.otherMessages.length };
    this.otherMessages = this.otherMessages.append(message);
    others.set(message.id, [...(others.get(message.id) ?? []), { message, position }]);
    positions.set(message, position);
    return position;
  }
}

/**
 * True when every section begins with all the messages that it had. The indexes by which steps refer to messages are
 * then still valid.
 */
export function isGrownStore(before: MessageStore, after: MessageStore): boolean {
  return before.sections.every(
    ({ name, messages }) => after.section(name).commonLength(messages) === messages.length,
  );
}

/** Returns the ranges of the first `count` messages; `undefined` when the store lacks one of them. */
function rangesUpTo(ranges: readonly MessageRange[], count: number): MutableRange[] | undefined {
  const result: MutableRange[] = [];
  let remaining = count;
  for (const { section, from, to } of ranges) {
    if (remaining === 0) break;
    if (section === undefined) return undefined;
    const length = Math.min(to - from, remaining);
    result.push({ section, from, to: from + length });
    remaining -= length;
  }
  return result;
}

/** Adds a range at the end, and joins it with the last one if they are adjacent. */
function addRange(ranges: MutableRange[], { section, from, to }: MessageRange): void {
  const last = ranges.at(-1);
  if (last !== undefined && last.section === section && last.to === from) last.to = to;
  else ranges.push(section === undefined ? { from, to } : { section, from, to });
}

/** Returns the ranges after `beginning`; `undefined` when `ranges` does not begin with `beginning`. */
function rangesAfter(beginning: readonly MessageRange[], ranges: MessageRange[]): MessageRange[] | undefined {
  const end = beginning.length - 1;
  for (const [index, { section, from, to }] of beginning.entries()) {
    const range = ranges[index];
    if (range === undefined || range.section !== section || range.from !== from) return undefined;
    if (index < end ? range.to !== to : range.to < to) return undefined;
  }
  const [last, split] = [beginning[end], ranges[end]];
  if (last === undefined || split === undefined) return ranges;
  const rest = ranges.slice(end + 1);
  return split.to === last.to ? rest : [{ ...split, from: last.to }, ...rest];
}

/** Reads references as messages. */
export class MessageRefReader {
  private readonly sections: ReadonlyMap<string | undefined, Messages>;
  private readonly others: Messages;

  constructor(store: MessageStore, others: Messages) {
    this.others = others;
    this.sections = new Map(store.sections.map(({ name, messages }) => [name, messages]));
  }

  view(reader: DocumentReader, value: unknown, previous: Messages | undefined): Messages {
    const members = reader.members(value, VIEW_NAMES);
    const canContinue = previous !== undefined && !previous.isEmpty;
    const continues = reader.optional(members, 'continues', readTrue) ?? false;
    if (continues && !canContinue) reader.fail('an earlier step with input to continue', value);
    const added = reader.optional(members, 'ranges', this.messages) ?? NOTHING;
    return continues && canContinue ? previous.concat(added) : List.from(added);
  }

  readonly messages: Read<readonly Message[]> = (reader, value) => {
    if (!Array.isArray(value) || value.length === 0) return reader.fail('a list of ranges', value);
    const messages: Message[] = [];
    for (let index = 0; index < value.length; index++) {
      reader.enter(index);
      this.addRange(reader, readShape(reader, value[index], RANGE), messages);
      reader.leave();
    }
    return messages;
  };

  private addRange(reader: DocumentReader, { section, from, to }: MessageRange, target: Message[]): void {
    const messages = section === undefined ? this.others : this.sections.get(section);
    if (messages === undefined || from >= to || to > messages.length)
      return reader.fail('a range of existing messages', `${from} to ${to}`);
    for (let index = from; index < to; index++) target.push(messages.at(index) as Message);
  }
}

/**
 * Writes a document with all messages that it refers to and `store` does not have. Without a store it contains each of
 * them, and `readStandalone` reads it.
 */
export function writeStandalone(
  encode: (refs: MessageRefWriter) => object,
  store: MessageStore = MessageStore.empty,
): object {
  const refs = new MessageRefWriter(store);
  const document = encode(refs);
  const { otherMessages } = refs;
  return otherMessages.isEmpty ? document : { ...document, otherMessages: otherMessages.toArray() };
}

/** Returns a reader of documents that `writeStandalone` wrote. */
export function readStandalone<T>(
  decode: (reader: DocumentReader, members: Members, refs: MessageRefReader) => T,
): Read<T> {
  return (reader, value) => {
    const { otherMessages: _, ...members } = reader.object(value);
    const refs = readRefs(reader, reader.object(value), MessageStore.empty);
    return decode(reader, members, refs);
  };
}

/** Returns a reader of references into a message store and into `otherMessages` of the document. */
export function readRefs(reader: DocumentReader, members: Members, store: MessageStore): MessageRefReader {
  return new MessageRefReader(store, reader.optional(members, 'otherMessages', readOthers) ?? List.empty());
}

const readOthers: Read<Messages> = readNonEmpty(listReader(readMessage));
const RANGE: Shape<MessageRange> = shapeOf({ 'section?': readString, from: readCount, to: readCount });
const VIEW_NAMES = new Set(['continues', 'ranges']);
