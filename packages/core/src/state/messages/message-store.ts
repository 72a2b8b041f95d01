import { DocumentReader, orderedReader, readString, type Read } from '../../document.ts';
import { listReader } from '../values/known-part.ts';
import { mapped } from '../values/frozen-array.ts';
import { List } from '../values/list.ts';
import { checkedMessage, readMessage, type Message, type Messages } from './messages.ts';
import { requireString, wrongArgument } from '../../arguments.ts';

/** A named list of messages. */
export interface Section {
  readonly name: string;
  readonly messages: Messages;
}

/** The name of the section that holds the conversation. */
export const CONVERSATION = 'messages';

/**
 * All messages of an agent, in named sections. The section `messages` is the conversation; all other names are free
 * (`summary`, `buffer`, …). Sections are in the order of their first write.
 */
export class MessageStore {
  static readonly empty: MessageStore = new MessageStore(Object.freeze([]));

  readonly sections: readonly Section[];

  private constructor(sections: readonly Section[]) {
    this.sections = sections;
    Object.freeze(this);
  }

  /** Creates a store with the given messages as its conversation. */
  static from(messages: Iterable<Message>): MessageStore {
    return MessageStore.empty.withSection(CONVERSATION, messages);
  }

  /** The names of the existing sections, in order. */
  get names(): readonly string[] {
    return this.sections.map((section) => section.name);
  }

  /** The conversation. */
  get messages(): Messages {
    return this.section(CONVERSATION);
  }

  /** Returns the messages of a section; an empty list when the section does not exist. */
  section(name: string): Messages {
    return this.sections[this.sectionIndex(name)]?.messages ?? List.empty();
  }

  /**
   * Returns the store with messages added at the end of a section, in O(1) per message for every length of the section.
   */
  append(name: string, messages: readonly Message[]): MessageStore {
    requireString(name, 'a string as the name of a section');
    if (!Array.isArray(messages)) throw wrongArgument(messages, 'an array of messages');
    if (messages.length === 0) return this;
    return this.withChecked(name, this.section(name).concat(messages.map(checkedMessage)));
  }

  /**
   * Returns the store with a section replaced or added; `this` when the section has exactly these messages.
   * @throws HoldfastError `CONTEXT_INVALID` for an invalid message.
   */
  withSection(name: string, messages: Iterable<Message>): MessageStore {
    requireString(name, 'a string as the name of a section');
    const present = this.section(name);
    const given = List.from(messages);
    const shared = present.commonLength(given);
    if (shared === given.length && shared === present.length && this.names.includes(name)) return this;
    const added = given.slice(shared).map(checkedMessage);
    const beginning = shared === present.length ? present : List.from(present.slice(0, shared));
    return this.withChecked(name, beginning.concat(added));
  }

  /** As `withSection`, for messages that are valid already. @internal */
  withChecked(name: string, messages: Messages): MessageStore {
    const [place, section] = [this.sectionIndex(name), Object.freeze({ name, messages })];
    const sections =
      place < 0
        ? [...this.sections, section]
        : mapped(this.sections, (known, other) => (other === place ? section : known));
    return new MessageStore(Object.freeze(sections));
  }

  /** Returns the index of a section; -1 when it does not exist. */
  private sectionIndex(name: string): number {
    const { sections } = this;
    for (let place = 0; place < sections.length; place++) if (sections[place]?.name === name) return place;
    return -1;
  }

  /** Returns the store without a section; `this` when the section does not exist. */
  withoutSection(name: string): MessageStore {
    const rest = this.sections.filter((section) => section.name !== name);
    return rest.length === this.sections.length ? this : new MessageStore(Object.freeze(rest));
  }

  toJSON(): readonly object[] {
    return this.sections.map(({ name, messages }) => ({ name, messages: messages.toArray() }));
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): MessageStore {
    return DocumentReader.read(json, readMessageStore);
  }
}

const readSection: Read<Section> = orderedReader({ name: readString, messages: listReader(readMessage) });

export const readMessageStore: Read<MessageStore> = (reader, value) => {
  let store = MessageStore.empty;
  for (const { name, messages } of reader.list(value, readSection)) {
    if (store.names.includes(name)) return reader.fail('sections of different names', name);
    store = store.withChecked(name, messages);
  }
  return store;
};
