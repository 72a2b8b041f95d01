import type { DocumentReader, Read } from '../json.ts';
import { compact, readBoolean, readCount, readShape, readString, shapeOf } from '../json.ts';
import { List } from './list.ts';
import type { MessageStore } from './message-store.ts';
import type { Message, Messages } from './messages.ts';
import { taggedCopyOf, untagMessage } from './message-tags.ts';

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
  private readonly store: MessageStore;
  private positions: Map<Message, Position> | undefined;

  constructor(store: MessageStore) {
    this.store = store;
  }

  /** A view of messages, in terms of the ones of the step before where it can be. */
  view(messages: Messages, previous: Messages | undefined): MessageView {
    const added = previous && !previous.isEmpty ? messages.since(previous) : undefined;
    const ranges = this.ranges(added ?? messages.slice(), (message) => message);
    return compact({ continues: added && (true as const), ranges }) as MessageView;
  }

  /** The messages a step made, by their tagged copies in the store. */
  output(messages: readonly Message[]): readonly MessageRange[] | undefined {
    return this.ranges(messages, (message) => taggedCopyOf(message));
  }

  private ranges(
    messages: readonly Message[],
    inStore: (message: Message) => Message | undefined,
  ): readonly MessageRange[] | undefined {
    const ranges: { section?: string; from: number; to: number }[] = [];
    for (const message of messages) {
      const { section, index } = this.position(inStore(message)) ?? this.positionAmongOthers(message);
      const last = ranges.at(-1);
      if (last !== undefined && last.section === section && last.to === index) last.to++;
      else ranges.push({ ...(section !== undefined && { section }), from: index, to: index + 1 });
    }
    return ranges.length === 0 ? undefined : ranges;
  }

  private position(message: Message | undefined): Position | undefined {
    this.positions ??= positionsIn(this.store);
    return message && this.positions.get(message);
  }

  private positionAmongOthers(message: Message): Position {
    const known = this.otherPositions.get(message);
    if (known) return known;
    const position = { section: undefined, index: this.others.push(message) - 1 };
    this.otherPositions.set(message, position);
    return position;
  }

  private readonly otherPositions = new Map<Message, Position>();
}

function positionsIn(store: MessageStore): Map<Message, Position> {
  const positions = new Map<Message, Position>();
  for (const { name, messages } of store.sections) {
    messages.toArray().forEach((message, index) => positions.set(message, { section: name, index }));
  }
  return positions;
}

/** Turns references back into messages. */
export class MessageRefReader {
  private readonly store: MessageStore;
  private readonly others: readonly Message[];
  /** How many of the others were referred to. */
  private referred = 0;

  constructor(store: MessageStore, others: readonly Message[]) {
    this.store = store;
    this.others = others;
  }

  /** The messages of a view. */
  view(reader: DocumentReader, value: unknown, previous: Messages | undefined): Messages {
    const members = reader.members(value, VIEW_NAMES);
    const canContinue = previous !== undefined && !previous.isEmpty;
    const continues = reader.filled(members, 'continues', readBoolean) ?? false;
    if (continues && !canContinue)
      reader.fail('a step before, shown something, that this one continues', value);
    const added = reader.filled(members, 'ranges', this.messages) ?? [];
    if (continues && canContinue) return previous.concat(added);
    const messages = List.from(added);
    if (canContinue && messages.since(previous))
      reader.fail('"continues" for what begins as the step before', value);
    return messages;
  }

  /** Fails when there are messages that no step refers to. */
  checkAllReferred(reader: DocumentReader): void {
    if (this.referred < this.others.length) reader.fail('no messages that no step refers to', this.others);
  }

  /** The messages that a step made: those in the store without the tags they got there. */
  readonly output: Read<readonly Message[]> = (reader, value) =>
    Object.freeze(this.readRanges(reader, value, untagMessage));

  private readonly messages: Read<readonly Message[]> = (reader, value) => this.readRanges(reader, value);

  private readRanges(
    reader: DocumentReader,
    value: unknown,
    fromStore?: (message: Message) => Message,
  ): readonly Message[] {
    const messages: Message[] = [];
    let before: MessageRange | undefined;
    reader.list(value, (_, item) => {
      const range = readRange(reader, item);
      if (before?.section === range.section && before?.to === range.from)
        reader.fail('one range instead of two that meet', item);
      before = range;
      const isStored = range.section !== undefined;
      for (const message of this.messagesIn(reader, range)) {
        messages.push(isStored && fromStore ? fromStore(message) : message);
      }
    });
    return messages;
  }

  private messagesIn(reader: DocumentReader, { section, from, to }: MessageRange): readonly Message[] {
    const messages =
      section === undefined ? this.others.slice(from, to) : this.store.section(section).slice(from, to);
    if (messages.length !== to - from || to === from)
      reader.fail('a range of messages that exist', `${from} to ${to}`);
    if (section === undefined) {
      if (from > this.referred) reader.fail('messages in the order in which they are referred to', from);
      this.referred = Math.max(this.referred, to);
    }
    return messages;
  }
}

const RANGE = shapeOf<MessageRange>({ 'section?': readString, from: readCount, to: readCount });

const readRange: Read<MessageRange> = (reader, value) => readShape(reader, value, RANGE);

const VIEW_NAMES = new Set(['continues', 'ranges']);
