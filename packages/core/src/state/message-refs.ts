import type { DocumentReader, Members, Read } from '../json.ts';
import { readCount, readFilled, readShape, readString, readTrue, shapeOf } from '../json.ts';
import { List } from './list.ts';
import { MessageStore } from './message-store.ts';
import type { Message, Messages } from './messages.ts';
import { readMessage } from './messages.ts';

/**
 * Messages by reference: where in the store they stand instead of what they say, so that a run of n steps is
 * stored in O(n). A range without a section counts in the `messages` of the document itself, which holds what
 * the store does not have.
 */
export interface MessageRange {
  readonly section?: string;
  readonly from: number;
  readonly to: number;
}

/** A run of messages by reference; `continues` puts those of the step before in front. */
export interface MessageView {
  readonly continues?: true;
  readonly ranges?: readonly MessageRange[];
}

interface Position {
  readonly section: string | undefined;
  readonly index: number;
}

/** Turns messages into references. What the store lacks is collected in `others`. */
export class MessageRefWriter {
  readonly others: Message[] = [];
  private readonly positions: Map<Message, Position>;

  constructor(store: MessageStore) {
    this.positions = new Map();
    for (const { name, messages } of store.sections) {
      let index = 0;
      for (const message of messages) this.positions.set(message, { section: name, index: index++ });
    }
  }

  /** A view of messages, in terms of the ones of the step before where it can be. */
  view(messages: Messages, previous: Messages | undefined): MessageView {
    const added = previous && !previous.isEmpty ? messages.since(previous) : undefined;
    const ranges = this.ranges(added ?? messages.slice());
    if (added === undefined) return ranges === undefined ? {} : { ranges };
    return ranges === undefined ? { continues: true } : { continues: true, ranges };
  }

  /** Where the messages stand; `undefined` for none. */
  ranges(messages: readonly Message[]): readonly MessageRange[] | undefined {
    if (messages.length === 0) return undefined;
    const ranges: { section?: string; from: number; to: number }[] = [];
    let last: { section?: string; from: number; to: number } | undefined;
    for (const message of messages) {
      const { section, index } = this.positions.get(message) ?? this.addOther(message);
      if (last !== undefined && last.section === section && last.to === index) {
        last.to++;
        continue;
      }
      last = section === undefined ? { from: index, to: index + 1 } : { section, from: index, to: index + 1 };
      ranges.push(last);
    }
    return ranges;
  }

  private addOther(message: Message): Position {
    const position = { section: undefined, index: this.others.push(message) - 1 };
    this.positions.set(message, position);
    return position;
  }
}

/** Turns references back into messages. */
export class MessageRefReader {
  private readonly sections: ReadonlyMap<string | undefined, Messages>;
  private readonly others: Messages;
  /** How many of the others were referred to. */
  private referred = 0;

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
    if (continues && canContinue) return previous.concat(added);
    const messages = List.from(added);
    if (canContinue && messages.since(previous))
      reader.fail('"continues" for what begins as the step before', value);
    return messages;
  }

  /** Fails when there are messages that no step refers to. */
  checkAllReferred(reader: DocumentReader): void {
    if (this.referred < this.others.length)
      reader.fail('no messages that no step refers to', this.others.toArray());
  }

  /** The messages in a list of ranges. */
  readonly messages: Read<readonly Message[]> = (reader, value) => {
    if (!Array.isArray(value) || value.length === 0) return reader.fail('a list of ranges', value);
    const messages: Message[] = [];
    let before: MessageRange | undefined;
    for (let index = 0; index < value.length; index++) {
      reader.enter(index);
      const range = readShape(reader, value[index], RANGE);
      if (before?.section === range.section && before?.to === range.from)
        reader.fail('one range instead of two that meet', range);
      before = range;
      this.addRange(reader, range, messages);
      reader.leave();
    }
    return messages;
  };

  private addRange(reader: DocumentReader, { section, from, to }: MessageRange, target: Message[]): void {
    const messages = section === undefined ? this.others : this.sections.get(section);
    if (messages === undefined || from >= to || to > messages.length)
      return reader.fail('a range of messages that exist', `${from} to ${to}`);
    for (let index = from; index < to; index++) target.push(messages.at(index) as Message);
    if (section !== undefined) return;
    if (from > this.referred) reader.fail('messages in the order in which they are referred to', from);
    this.referred = Math.max(this.referred, to);
  }
}

/**
 * A document that stands alone: what refers to messages beside the messages themselves. The other half of
 * `readAlone`.
 */
export function writeAlone(encode: (refs: MessageRefWriter) => object): object {
  const refs = new MessageRefWriter(MessageStore.empty);
  const document = encode(refs);
  return refs.others.length === 0 ? document : { ...document, messages: refs.others };
}

/** Reads what `writeAlone` wrote. */
export function readAlone<T>(
  decode: (reader: DocumentReader, members: Members, refs: MessageRefReader) => T,
): Read<T> {
  return (reader, value) => {
    const { messages: _, ...members } = reader.object(value);
    const refs = readRefs(reader, reader.object(value), MessageStore.empty);
    const result = decode(reader, members, refs);
    refs.checkAllReferred(reader);
    return result;
  };
}

/** A reader of references into a store and into the document's own `messages`. */
export function readRefs(reader: DocumentReader, members: Members, store: MessageStore): MessageRefReader {
  return new MessageRefReader(store, reader.optional(members, 'messages', readOthers) ?? List.empty());
}

const readOthers: Read<Messages> = readFilled((reader, value) => List.from(reader.list(value, readMessage)));
const RANGE = shapeOf<MessageRange>({ 'section?': readString, from: readCount, to: readCount });
const VIEW_NAMES = new Set(['continues', 'ranges']);
const NOTHING: readonly never[] = Object.freeze([]);
