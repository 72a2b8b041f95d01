import { DocumentReader, orderedReader, readNonEmpty, readString, type Read } from '../document.ts';
import { compact, isSameJson } from '../json.ts';
import { readResponseFormat, type ResponseFormat } from './inference/llm-config.ts';
import { MessageStore, readMessageStore } from './messages/message-store.ts';
import { orKnown } from './values/known-part.ts';
import { Metadata, readMetadata } from './values/metadata.ts';
import { checkedCopy, requireObject, wrongArgument } from '../arguments.ts';

/** The members of a context. */
export type AgentContextFields = Pick<AgentContext, 'store' | 'systemPrompt' | 'metadata' | 'responseFormat'>;

/** The context of an agent: its messages, system prompt, metadata and response format. */
export class AgentContext {
  readonly store: MessageStore;
  readonly systemPrompt: string | undefined;
  readonly metadata: Metadata;
  readonly responseFormat: ResponseFormat | undefined;

  static readonly empty: AgentContext = new AgentContext({
    store: MessageStore.empty,
    systemPrompt: undefined,
    metadata: Metadata.empty,
    responseFormat: undefined,
  });

  private constructor(fields: AgentContextFields) {
    this.store = fields.store;
    this.systemPrompt = fields.systemPrompt;
    this.metadata = fields.metadata;
    this.responseFormat = fields.responseFormat;
    Object.freeze(this);
  }

  /**
   * Returns a copy with some parts replaced, or `this` when nothing changes.
   * @throws TypeError `ARGUMENT_INVALID` for a store or metadata of another class, HoldfastError `CONTEXT_INVALID` for
   * an invalid system prompt or response format.
   */
  with(changes: Partial<AgentContextFields>): AgentContext {
    requireObject(changes, 'an object with parts of a context');
    const { store = this.store, metadata = this.metadata } = changes;
    if (!(store instanceof MessageStore))
      throw wrongArgument(store, 'a store, as returned by MessageStore.from()');
    if (!(metadata instanceof Metadata))
      throw wrongArgument(metadata, 'metadata, as returned by Metadata.from()');
    const systemPrompt = 'systemPrompt' in changes ? promptOrNone(changes.systemPrompt) : this.systemPrompt;
    const responseFormat =
      'responseFormat' in changes ? formatOrNone(changes.responseFormat) : this.responseFormat;
    const isSame =
      store === this.store &&
      metadata === this.metadata &&
      systemPrompt === this.systemPrompt &&
      isSameJson(responseFormat, this.responseFormat);
    return isSame ? this : new AgentContext({ store, systemPrompt, metadata, responseFormat });
  }

  toJSON(): object {
    return compact({
      systemPrompt: this.systemPrompt,
      metadata: this.metadata === Metadata.empty ? undefined : this.metadata.values,
      responseFormat: this.responseFormat,
      sections: this.store.toJSON(),
    });
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): AgentContext {
    return DocumentReader.read(json, AgentContext.read);
  }

  /** @internal */
  static readonly read: Read<AgentContext> = (reader, value) => {
    const { sections, systemPrompt, responseFormat, metadata = Metadata.empty } = readContext(reader, value);
    return new AgentContext({ store: sections, systemPrompt, responseFormat, metadata });
  };
}

const readContext = orderedReader({
  'systemPrompt?': readString,
  'metadata?': orKnown(readNonEmpty(readMetadata)),
  'responseFormat?': orKnown(readResponseFormat),
  sections: readMessageStore,
});

function promptOrNone(prompt: string | undefined): string | undefined {
  return prompt === undefined ? undefined : checkedCopy('system prompt', prompt, readString);
}

function formatOrNone(format: ResponseFormat | undefined): ResponseFormat | undefined {
  return format === undefined ? undefined : checkedCopy('response format', format, readResponseFormat);
}
