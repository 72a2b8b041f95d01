import type { DocumentReader, Members, Read } from '../json.ts';
import { isSameJson, readCount, readFilled, readShape, readString, readTrue, shapeOf } from '../json.ts';
import { List } from './list.ts';
import { MessageStore } from './message-store.ts';
import type { Message, Messages } from './messages.ts';
import { readMessage } from './messages.ts';

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

/** Turns messages into references. What the store lacks is collected in `otherMessages`. */
export class MessageRefWriter {
  readonly otherMessages: Message[] = [];
  private readonly positions: Map<Message, Position>;
  private readonly others = new Map<string, readonly { message: Message; position: Position }[]>();
  /** The view written last, with those it continued. */
  private shown: MutableRange[] = [];

  constructor(store: MessageStore) {
    this.positions = new Map();
    for (const { name, messages } of store.sections) {
      let index = 0;
      for (const message of messages) this.positions.set(message, { section: name, index: index++ });
    }
  }

  /** A view of messages, in terms of the view written last where it begins with that. */
  view(messages: Messages, previous: Messages | undefined): MessageView {
    const isFirst = previous === undefined || previous.isEmpty;
    const known = isFirst ? undefined : messages.since(previous);
    const added = known ? this.locate(known) : this.locate(messages.slice());
    const rest = known || isFirst ? added : rangesAfter(this.shown, added);
    if (rest === undefined || isFirst) this.shown = [];
    for (const range of rest ?? added) addRange(this.shown, range);
    const ranges = rest ?? added;
    if (isFirst || rest === undefined) return ranges.length === 0 ? {} : { ranges };
    return ranges.length === 0 ? { continues: true } : { continues: true, ranges };
  }

  /** Where the messages stand; `undefined` for none. */
  ranges(messages: readonly Message[]): readonly MessageRange[] | undefined {
    return messages.length === 0 ? undefined : this.locate(messages);
  }

  private locate(messages: readonly Message[]): MessageRange[] {
    const ranges: MutableRange[] = [];
    let last: MutableRange | undefined;
    for (const message of messages) {
      const { section, index } = this.positions.get(message) ?? this.positionAmongOthers(message);
      if (last !== undefined && last.section === section && last.to === index) {
        last.to++;
        continue;
      }
      last = section === undefined ? { from: index, to: index + 1 } : { section, from: index, to: index + 1 };
      ranges.push(last);
    }
    return ranges;
  }

  /** A compiler may make the same message anew for each step: it is kept once. */
  private positionAmongOthers(message: Message): Position {
    const alike = this.others.get(message.id)?.find((other) => isSameJson(other.message, message));
    const position = alike?.position ?? { section: undefined, index: this.otherMessages.push(message) - 1 };
    if (alike === undefined) {
      const others = this.others.get(message.id) ?? [];
      this.others.set(message.id, [...others, { message, position }]);
    }
    this.positions.set(message, position);
    return position;
  }
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
 * `readAlone`.
 */
export function writeAlone(encode: (refs: MessageRefWriter) => object): object {
  const refs = new MessageRefWriter(MessageStore.empty);
  const document = encode(refs);
  return refs.otherMessages.length === 0 ? document : { ...document, otherMessages: refs.otherMessages };
}

/** Reads what `writeAlone` wrote. */
export function readAlone<T>(
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

const readOthers: Read<Messages> = readFilled((reader, value) => List.from(reader.list(value, readMessage)));
const RANGE = shapeOf<MessageRange>({ 'section?': readString, from: readCount, to: readCount });
const VIEW_NAMES = new Set(['continues', 'ranges']);
const NOTHING: readonly never[] = Object.freeze([]);
