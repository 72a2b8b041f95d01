import type { DocumentReader, Members, Read, Shape } from '../../document.ts';
import { readCount, readNonEmpty, readShape, readString, readTrue, shapeOf } from '../../document.ts';
import { isSameJson } from '../../json.ts';
import { List } from '../values/list.ts';
import { MessageStore } from '../messages/message-store.ts';
import type { Message, Messages } from '../messages/messages.ts';
import { readMessage } from '../messages/messages.ts';

/**
 * Messages by reference: where in the store they stand instead of what they say, so that a run of n steps is
 * stored in O(n). A range without a section counts in the `otherMessages` of the document itself, which hold what
 * the store does not have.
 */
export interface MessageRange {
  readonly section?: string;
  readonly from: number;
  readonly to: number;
}

type MutableRange = { -readonly [K in keyof MessageRange]: MessageRange[K] };

/** A run of messages by reference; `continues` puts those of the step before in front. */
export interface MessageView {
  readonly continues?: true;
  readonly ranges?: readonly MessageRange[];
}

interface Position {
  readonly section: string | undefined;
  readonly index: number;
}

/** What a writer knows, for one that goes on from it. Shared: an entry counts only where the messages bear it out. */
interface Index {
  readonly positions: Map<Message, Position>;
  /** By their ids. */
  readonly others: Map<string, readonly { message: Message; position: Position }[]>;
}

/** Turns messages into references. What the store lacks is collected in `otherMessages`. */
export class MessageRefWriter {
  /** What the store lacks. */
  otherMessages: Messages = List.empty();
  private readonly store: MessageStore;
  private readonly index: Index;
  /** The view written last, with those it continued. */
  private lastView: MutableRange[] = [];
  /** The last view that continued none, for the next such view, which mostly begins alike. */
  private first: { readonly messages: Messages; readonly ranges: readonly MessageRange[] } | undefined;

  constructor(store: MessageStore, index: Index = { positions: new Map(), others: new Map() }) {
    this.store = store;
    this.index = index;
    if (index.positions.size === 0) this.indexFrom(MessageStore.empty);
  }

  /** A writer of a document that was read: what it knows is what the document has. */
  static of(store: MessageStore, otherMessages: Messages, shown: Messages): MessageRefWriter {
    const writer = new MessageRefWriter(store);
    for (const message of otherMessages) writer.addOther(message);
    writer.view(shown, undefined);
    return writer;
  }

  /** A writer for the same store, grown: costs what was added. Without `keepsOthers` it begins a new document. */
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

  /** Writes what is not to be continued by what is written next. */
  writeDetached<T>(write: () => T): T {
    const shown = this.lastView.map((range) => ({ ...range }));
    const written = write();
    this.lastView = shown;
    return written;
  }

  /** A view of messages, in terms of the view written last where it begins with that. */
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

  /** Where the messages stand; `undefined` for none. */
  ranges(messages: readonly Message[]): readonly MessageRange[] | undefined {
    return messages.length === 0 ? undefined : this.locate(messages);
  }

  /** Where all of a view stands: what it has in common with the first view before stands where it stood. */
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

  /** A compiler may make the same message anew for each step: it is kept once. */
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

/** The ranges of the first so many messages; `undefined` when some of them are not in the store. */
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

/** Adds a range at the end, as a part of the last one where they meet. */
function addRange(ranges: MutableRange[], { section, from, to }: MessageRange): void {
  const last = ranges.at(-1);
  if (last !== undefined && last.section === section && last.to === from) last.to = to;
  else ranges.push(section === undefined ? { from, to } : { section, from, to });
}

/** What follows on a beginning; `undefined` when the ranges do not begin so. */
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

/** Turns references back into messages. */
export class MessageRefReader {
  private readonly sections: ReadonlyMap<string | undefined, Messages>;
  private readonly others: Messages;

  constructor(store: MessageStore, others: Messages) {
    this.others = others;
    this.sections = new Map(store.sections.map(({ name, messages }) => [name, messages]));
  }

  /** The messages of a view. */
  view(reader: DocumentReader, value: unknown, previous: Messages | undefined): Messages {
    const members = reader.members(value, VIEW_NAMES);
    const canContinue = previous !== undefined && !previous.isEmpty;
    const continues = reader.optional(members, 'continues', readTrue) ?? false;
    if (continues && !canContinue)
      reader.fail('a step before, shown something, that this one continues', value);
    const added = reader.optional(members, 'ranges', this.messages) ?? NOTHING;
    return continues && canContinue ? previous.concat(added) : List.from(added);
  }

  /** The messages in a list of ranges. */
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
      return reader.fail('a range of messages that exist', `${from} to ${to}`);
    for (let index = from; index < to; index++) target.push(messages.at(index) as Message);
  }
}

/**
 * A document that stands alone: what refers to messages beside the messages themselves. The other half of
 * `readStandalone`.
 */
export function writeStandalone(encode: (refs: MessageRefWriter) => object): object {
  const refs = new MessageRefWriter(MessageStore.empty);
  const document = encode(refs);
  const { otherMessages } = refs;
  return otherMessages.isEmpty ? document : { ...document, otherMessages: otherMessages.toArray() };
}

/** Reads what `writeStandalone` wrote. */
export function readStandalone<T>(
  decode: (reader: DocumentReader, members: Members, refs: MessageRefReader) => T,
): Read<T> {
  return (reader, value) => {
    const { otherMessages: _, ...members } = reader.object(value);
    const refs = readRefs(reader, reader.object(value), MessageStore.empty);
    return decode(reader, members, refs);
  };
}

/** A reader of references into a store and into the document's own `messages`. */
export function readRefs(reader: DocumentReader, members: Members, store: MessageStore): MessageRefReader {
  return new MessageRefReader(store, reader.optional(members, 'otherMessages', readOthers) ?? List.empty());
}

const readOthers: Read<Messages> = readNonEmpty((reader, value) =>
  List.from(reader.list(value, readMessage)),
);
const RANGE: Shape<MessageRange> = shapeOf({ 'section?': readString, from: readCount, to: readCount });
const VIEW_NAMES = new Set(['continues', 'ranges']);
const NOTHING: readonly never[] = Object.freeze([]);
